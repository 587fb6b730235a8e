import type { Head } from '../../../src/event-sourcing';

/** What a read model has of a stream, compared with the stream. */
export interface Differences {
  /** Events that are stored, and were not applied. */
  skipped: number;
  twice: number;
  /** Events that were applied, and are not stored. */
  lost: number;
}

/** @param applied the events of one stream in the order in which they were applied. */
export function differences(applied: readonly Head[], stored: readonly Head[]): Differences {
  const times = new Map<string, number>();
  for (const { version, commit } of applied) {
    const key = `${version} ${commit}`;
    times.set(key, (times.get(key) ?? 0) + 1);
  }
  const found: Differences = { skipped: 0, twice: 0, lost: 0 };
  for (const { version, commit } of stored) {
    const key = `${version} ${commit}`;
    const count = times.get(key) ?? 0;
    if (count === 0) found.skipped++;
    found.twice += Math.max(0, count - 1);
    times.delete(key);
  }
  for (const count of times.values()) found.lost += count;
  return found;
}
