import {
  type Command,
  type Decision,
  ImpossibleHistory,
  type PlantEvent,
  PlantList,
  decideInOrder,
} from '../domain';
import { BEGINNING, type Head, type RecordedEvent, UnreadableHistory, headOf } from './event-store';

/** Derives a value from the list and the head that it stands at. */
export type View<T> = (plants: Pick<PlantList, 'size' | 'has' | 'page'>, head: Head) => T;

/** A user's plants, and how far along their stream that is. Both change only together, by events that are recorded. */
export class Projection {
  #list = new PlantList();
  #head: Head = BEGINNING;

  get head(): Head {
    return this.#head;
  }

  /** How many plants are alive. */
  get size(): number {
    return this.#list.size;
  }

  /** About how much memory it takes. */
  get bytes(): number {
    return this.#list.bytes;
  }

  /** What `view` makes of the list and its head. */
  show<T>(view: View<T>): T {
    return view(this.#list, this.#head);
  }

  /** Changes nothing: the events that are decided on are not recorded yet. */
  decide(commands: Iterable<Command>): Decision[] {
    return decideInOrder(commands, this.#list);
  }

  /** Takes in what was appended at its head, which now is `head`. */
  advance(events: readonly PlantEvent[], head: Head): void {
    for (const event of events) this.#list.evolve(event);
    this.#head = head;
  }

  /**
   * Takes in the event after its head. Throws {@link UnreadableHistory} where the rules could not have produced it,
   * and an Error where the store skipped one.
   */
  apply(recorded: RecordedEvent): void {
    const { version } = recorded;
    if (version !== this.#head.version + 1) {
      throw new Error(`the store went from event ${this.#head.version} to ${version} of a stream`);
    }
    try {
      this.#list.evolve(recorded.event);
    } catch (error) {
      if (!(error instanceof ImpossibleHistory)) throw error;
      throw new UnreadableHistory(error.message, { cause: error });
    }
    this.#head = headOf(recorded);
  }
}
