import type { Head } from 'plant-store/application';
import { type PlantEvent, parsePlantId } from 'plant-store/domain';

/** An append, as it stands in the file. Ids are strings there, as everywhere: no digit is lost. */
export interface Line {
  readonly stream: string;
  readonly expected: Head;
  readonly commit: string;
  readonly events: readonly PlantEvent[];
}

/** `undefined` for what was not written by this store: nothing is skipped or guessed at. */
export function parseLine(text: string): Line | undefined {
  try {
    const { stream, expected, commit, events } = JSON.parse(text) as Line;
    const sound =
      [stream, commit, expected.commit].every((each) => typeof each === 'string') &&
      Number.isSafeInteger(expected.version) &&
      events.length > 0 &&
      events.every(isEvent);
    return sound ? { stream, expected, commit, events } : undefined;
  } catch {
    return undefined;
  }
}

function isEvent(event: PlantEvent): boolean {
  if (parsePlantId(event.id) === undefined) return false;
  switch (event.type) {
    case 'PlantCreated':
      return typeof event.name === 'string' && ['string', 'undefined'].includes(typeof event.tag);
    case 'PlantDeleted':
      return true;
    default:
      return false;
  }
}
