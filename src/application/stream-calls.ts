import type { PlantEvent } from '../domain';
import type { Clock } from './clock';
import {
  type AppendResult,
  type EventStore,
  type Head,
  OutcomeUnknown,
  type ReadResult,
  StoreUnavailable,
} from './event-store';

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
