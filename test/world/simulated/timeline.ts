import type { Head, StoredEvent } from '../../../src/event-sourcing';
import { plantEventOf } from '../../support/plant-events';
import { nameIn } from '../../support/plant-requests';

/** The first `length` events of an array that is only appended to. */
interface PastHistory {
  readonly since: number;
  readonly events: readonly StoredEvent[];
  readonly length: number;
  /** Whether the events end within a commit: only the requests of its round saw this state. */
  readonly partial: boolean;
}

/** Every history that the primary has had of a stream, also those that were lost, and since which moment. */
export class Timeline {
  readonly #histories: PastHistory[] = [];

  /** The stream has these events now; later ones may be added to the array. */
  add(since: number, events: readonly StoredEvent[]): void {
    const { length } = events;
    let first = length;
    while (first > 1 && events[first - 2]!.commit === events[length - 1]!.commit) first--;
    for (; first < length; first++) this.#histories.push({ since, events, length: first, partial: true });
    this.#histories.push({ since, events, length, partial: false });
  }

  /** Whether a history at some moment from `asked` to `answered` has this head, or any, and `matches` its plants. */
  some(
    { asked, answered }: { readonly asked: number; readonly answered: number },
    matches: (names: ReadonlyMap<string, string>) => boolean,
    head?: Head,
  ): boolean {
    return this.#histories.some(({ since, events, length, partial }, index) => {
      const until = this.#histories[index + 1]?.since ?? Infinity;
      if (since > answered || until < asked) return false;
      if (head && (partial || head.version !== length || head.commit !== (events[length - 1]?.commit ?? '')))
        return false;
      return matches(livingPlants(events, length));
    });
  }
}

/** The names of the living plants by id, in the order of their creation. */
function livingPlants(events: readonly StoredEvent[], length: number): ReadonlyMap<string, string> {
  const names = new Map<string, string>();
  for (let index = 0; index < length; index++) {
    const event = plantEventOf(events[index]!);
    const name = nameIn(event);
    if (name !== undefined) names.set(event.id, name);
    else names.delete(event.id);
  }
  return names;
}
