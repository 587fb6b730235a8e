import type { PlantEvent } from '../domain';
import type { Clock } from './clock';
import {
  type AppendResult,
  type EventStore,
  type Head,
  OutcomeUnknown,
  type ReadResult,
  StoreUnavailable,
  isStoreFault,
} from './event-store';
import type { RoundRequest } from './round-request';

const FIRST_RETRY_MS = 10;
const LAST_RETRY_MS = 200;

/** The round whose events are appended. */
export interface AppendingRound {
  /** The requests whose events they are. */
  readonly writers: readonly RoundRequest[];
  /** Whether any request of the round waits for an answer. */
  readonly pending: () => boolean;
  /** A call to the store begins. */
  readonly tried: () => void;
}

/**
 * The calls to the store for one stream, which can be given up: the wait then
 * ends at once, and the result of the call is dropped.
 */
export class StreamCalls {
  #abandon: () => void = () => {};

  constructor(
    private readonly stream: string,
    private readonly store: EventStore,
    private readonly clock: Clock,
  ) {}

  /** Given up, it rejects with {@link StoreUnavailable}: a read changes nothing. */
  read(after: Head): Promise<ReadResult> {
    return this.#unlessAbandoned(this.store.read(this.stream, after), StoreUnavailable);
  }

  /** Given up, it rejects with {@link OutcomeUnknown}. */
  append(expected: Head, commit: string, events: readonly PlantEvent[]): Promise<AppendResult> {
    return this.#unlessAbandoned(this.store.append(this.stream, expected, commit, events), OutcomeUnknown);
  }

  /**
   * Appends until the outcome is known. After a reply was lost the same commit
   * is repeated: the store answers what the first try did, or refuses it for
   * good because the stream has moved on.
   */
  async appendUntilKnown(
    expected: Head,
    commit: string,
    events: readonly PlantEvent[],
    { writers, pending, tried }: AppendingRound,
  ): Promise<AppendResult> {
    const setInDoubt = (inDoubt: boolean) => {
      for (const request of writers) request.inDoubt = inDoubt;
    };
    let unknown = false;
    setInDoubt(true);
    for (let pause = FIRST_RETRY_MS; ; pause = Math.min(2 * pause, LAST_RETRY_MS)) {
      try {
        tried();
        const result = await this.append(expected, commit, events);
        setInDoubt(false);
        return result;
      } catch (error) {
        unknown ||= !(error instanceof StoreUnavailable);
        // Until some try was lost on the way, a refusal is final: none of them happened.
        if (!unknown) setInDoubt(false);
        if (!unknown || !isStoreFault(error) || !pending()) throw error;
      }
      await this.pause(pause);
    }
  }

  /** Before an append is repeated, whose outcome is unknown until then; given up it stays so. */
  pause(ms: number): Promise<void> {
    const over = new Promise<void>((resolve) => void this.clock.after(ms, resolve));
    return this.#unlessAbandoned(over, OutcomeUnknown);
  }

  /** A load, which goes on when it is given up: the wait then rejects with {@link StoreUnavailable}. */
  waitFor<T>(load: Promise<T>): Promise<T> {
    return this.#unlessAbandoned(load, StoreUnavailable);
  }

  /** Gives up the call or the pause that began last. */
  abandon(): void {
    this.#abandon();
  }

  #unlessAbandoned<T>(work: Promise<T>, Fault: typeof StoreUnavailable | typeof OutcomeUnknown): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      this.#abandon = () => reject(new Fault('the event store did not answer in time'));
      work.then(resolve, reject);
    });
  }
}
