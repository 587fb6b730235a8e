import { type Command, type Decision, type PlantEvent, PlantList, decideInOrder } from '../domain';
import { BEGINNING, type Head, type RecordedEvent, headOf } from './event-store';
import { type ListQuery, Listing } from './listing';

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

  /** Changes nothing: the events that are decided on are not recorded yet. */
  decide(commands: Iterable<Command>): Decision[] {
    return decideInOrder(commands, this.#list);
  }

  listing({ limit, after }: ListQuery): Listing {
    return new Listing(this.#list.page(limit, after), this.#head);
  }

  /** Takes in what was appended at its head, which now is `head`. */
  advance(events: readonly PlantEvent[], head: Head): void {
    for (const event of events) this.#list.evolve(event);
    this.#head = head;
  }

  /** Takes in the event behind its head. Throws where `recorded` is another one. */
  apply(recorded: RecordedEvent): void {
    const { version } = recorded;
    if (version !== this.#head.version + 1) {
      throw new Error(`the store went from event ${this.#head.version} to ${version} of a stream`);
    }
    this.#list.evolve(recorded.event);
    this.#head = headOf(recorded);
  }
}
