import type { Clock } from '../ports/clock';
import type { AppendResult, EncodedEvent, EventStore, Head, ReadResult } from '../ports/event-store';
import { isStoreFault, OutcomeUnknown, StoreUnavailable } from '../ports/faults';
import type { StreamName } from '../ports/stream-name';

const FIRST_RETRY_MS = 10;
const LAST_RETRY_MS = 200;
const LOSSES_WITHOUT_PAUSE = 2;

const NOTHING = (): void => {};

/** The round whose events are appended. */
interface AppendingRound {
  /** The requests whose events are appended. */
  readonly writers: readonly { inDoubt: boolean }[];
  /** Whether any request of the round waits for an answer. */
  readonly pending: () => boolean;
}

/**
 * The calls to the store for one stream. An abandoned call rejects at once, and
 * its result is ignored.
 */
export class StreamCalls {
  /** Calls to the store so far. */
  made = 0;
  #abandon = NOTHING;

  constructor(
    private readonly stream: StreamName,
    private readonly store: EventStore,
    private readonly clock: Clock,
  ) {}

  /** If abandoned, rejects with {@link StoreUnavailable}: a read changes nothing. */
  read(after: Head): Promise<ReadResult> {
    this.made++;
    return this.#unlessAbandoned(this.store.read(this.stream, after), StoreUnavailable);
  }

  /**
   * Appends until the outcome is known. After a lost reply the same commit is
   * repeated: the append is idempotent, and if the stream has newer events by
   * others it results in a conflict. If it results in a reset, the writers stay
   * in doubt: another instance may repeat the lost events with their commit, and
   * then an earlier attempt of this append can still be recorded. If the events
   * after the expected head were archived, they stay in doubt, too: the event that
   * would tell is not in the store.
   */
  async appendUntilKnown(
    expected: Head,
    commit: string,
    events: readonly EncodedEvent[],
    { writers, pending }: AppendingRound,
  ): Promise<AppendResult> {
    const setInDoubt = (inDoubt: boolean) => {
      for (const request of writers) request.inDoubt = inDoubt;
    };
    let unknown = false;
    setInDoubt(true);
    for (let pause = FIRST_RETRY_MS; ; pause = Math.min(2 * pause, LAST_RETRY_MS)) {
      try {
        const result = await this.#append(expected, commit, events);
        setInDoubt(unknown && (result.status === 'reset' || result.status === 'archived'));
        return result;
      } catch (error) {
        unknown ||= !(error instanceof StoreUnavailable);
        // Unless the outcome of an earlier attempt is unknown, nothing was written.
        if (!unknown) setInDoubt(false);
        if (!unknown || !isStoreFault(error) || !pending()) throw error;
      }
      await this.#pause(pause, OutcomeUnknown);
    }
  }

  /**
   * Waits before the stream is loaded once more after `losses` lost histories. The first ones are a failover; a store
   * that loses each history is not called without a pause. If abandoned, rejects with {@link StoreUnavailable}.
   */
  async pauseAfter(losses: number): Promise<void> {
    if (losses <= LOSSES_WITHOUT_PAUSE) return;
    const ms = FIRST_RETRY_MS * 2 ** (losses - LOSSES_WITHOUT_PAUSE - 1);
    await this.#pause(Math.min(ms, LAST_RETRY_MS), StoreUnavailable);
  }

  /** Waits for a load. If abandoned, rejects with {@link StoreUnavailable}; the load continues. */
  waitFor<T>(load: Promise<T>): Promise<T> {
    return this.#unlessAbandoned(load, StoreUnavailable);
  }

  /** Abandons the latest call or pause. */
  abandon(): void {
    this.#abandon();
  }

  /** Frees the latest call, which has ended: its result would stay in memory until the next one. */
  release(): void {
    this.#abandon = NOTHING;
  }

  /** If abandoned, rejects with {@link OutcomeUnknown}. */
  #append(expected: Head, commit: string, events: readonly EncodedEvent[]): Promise<AppendResult> {
    this.made++;
    return this.#unlessAbandoned(this.store.append(this.stream, expected, commit, events), OutcomeUnknown);
  }

  #pause(ms: number, Fault: typeof StoreUnavailable | typeof OutcomeUnknown): Promise<void> {
    const over = new Promise<void>((resolve) => void this.clock.after(ms, resolve));
    return this.#unlessAbandoned(over, Fault);
  }

  #unlessAbandoned<T>(work: Promise<T>, Fault: typeof StoreUnavailable | typeof OutcomeUnknown): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      this.#abandon = () => reject(new Fault('the event store did not answer in time'));
      work.then(resolve, reject);
    });
  }
}
