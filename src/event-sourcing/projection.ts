import { type Decider, type Decision, decideInOrder } from './decider';
import { BEGINNING, type Head, type RecordedEvent, UnreadableHistory, headOf } from './event-store';

/** A state, and the head that it is at. */
export interface StateAtHead<State> {
  readonly state: State;
  readonly head: Head;
}

/** Derives a value from a stream's state and its head. */
export type View<State, T> = (state: State, head: Head) => T;

/** The state of a stream at a head. Both change together, by recorded events. */
export class Projection<Command, Event, Rejection, State> {
  #state: State;
  #head: Head;

  constructor(
    private readonly decider: Decider<Command, Event, Rejection, State>,
    { state, head }: StateAtHead<State> = { state: decider.initialState(), head: BEGINNING },
  ) {
    this.#state = state;
    this.#head = head;
  }

  get head(): Head {
    return this.#head;
  }

  get state(): State {
    return this.#state;
  }

  /** Decides commands in order. Does not change the state: their events are not recorded yet. */
  decide(commands: readonly Command[]): readonly Decision<Event, Rejection>[] {
    return decideInOrder(this.decider, commands, this.#state);
  }

  /** Applies events that were appended at its head; `head` is the new one. */
  advance(events: readonly Event[], head: Head): void {
    for (const event of events) this.#state = this.decider.evolve(this.#state, event);
    this.#head = head;
  }

  /**
   * Applies the event after its head. Throws {@link UnreadableHistory} if the decider rejects the event, and Error
   * if the store skipped a version.
   */
  apply(recorded: RecordedEvent<Event>): void {
    const { version } = recorded;
    if (version !== this.#head.version + 1) {
      throw new Error(`the store went from event ${this.#head.version} to ${version} of a stream`);
    }
    try {
      this.#state = this.decider.evolve(this.#state, recorded.event);
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      throw new UnreadableHistory(why, { cause: error });
    }
    this.#head = headOf(recorded);
  }
}
