import type { FeedPosition, FeedTrail } from '../ports/feed';

/** The position of an entry, without what else it has. */
export function positionOf({ sequence, commit, attempt }: FeedPosition): FeedPosition {
  return { sequence, commit, ...(attempt === undefined ? {} : { attempt }) };
}

/**
 * `trail` with a newer position at its front. Older ones are left out such that one or two remain for each power of two of
 * the distance: a consumer whose last entries were lost reads at most about twice as many again.
 */
export function withPosition(trail: FeedTrail, position: FeedPosition): FeedTrail {
  const kept: [FeedPosition, ...FeedPosition[]] = [position];
  trail.forEach((each, index) => {
    const older = trail[index + 1];
    const newer = kept.at(-1)!;
    if (older === undefined || newer.sequence - older.sequence > position.sequence - newer.sequence)
      kept.push(each);
  });
  return kept;
}
