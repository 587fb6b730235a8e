import { type Codec, decodeEvent, type RecordedEvent } from '../codec';
import { pageAfter } from '../loading/replay';
import type { Clock } from '../ports/clock';
import { type EventStore, type Head, headOf, type ReadResult } from '../ports/event-store';
import { isTransient, StoreUnavailable } from '../ports/faults';
import type { StreamName } from '../ports/stream-name';
import { Cancellation, type CancelSignal } from './cancellation';

/** Interval of reads from a store that cannot notify or is unavailable, in ms. */
const POLL_MS = 200;
/** Interval of reads from a store that notifies, in ms: a notification may be missed. */
const CHECK_MS = 5000;
/** Longest time of a read, in ms: a store may never settle it if the reply was lost. */
const READ_MS = 10_000;

export interface SubscribeOptions<Event> {
  readonly codec: Codec<Event>;
  readonly clock: Clock;
  /** An AbortSignal: the iteration ends when it is aborted. */
  readonly signal?: CancelSignal | undefined;
  /**
   * Called when the store becomes unavailable, with the error of the first read that failed. Reads are repeated until
   * one succeeds. Must not throw.
   */
  readonly unavailable?: ((error: StoreUnavailable) => void) | undefined;
}

/**
 * Follows a stream: every event after `after` exactly once and in order, the recorded ones first, then each as it is
 * recorded. It does not end by itself.
 *
 * - To end it, leave the loop, call `return()`, or abort the signal. The iteration then ends without an error, and holds
 *   no timer, listener or notification of the store. The same is true while the consumer processes an event.
 * - At most one page of events is in memory. The next one is read when the consumer has taken all of them.
 * - An unavailable store is read again until it answers, and so is one that does not answer within ten seconds.
 *
 * The stream need not exist yet. Throws `HistoryChanged` if `after`, or the last event that the consumer has, is not in
 * the history any more; `ArchivedHistory` if the event that follows it was archived; `UnreadableHistory`; and
 * errors of `store.read` that are bugs.
 */
export function subscribe<Event>(
  store: EventStore,
  stream: StreamName,
  after: Head,
  { codec, clock, signal, unavailable }: SubscribeOptions<Event>,
): AsyncIterableIterator<RecordedEvent<Event>> {
  const cancellation = new Cancellation(signal);
  const source = new Source(store, stream, clock, cancellation, unavailable);
  const events = follow(source, codec, headOf(after), cancellation);
  return {
    [Symbol.asyncIterator]() {
      return this;
    },
    next: () => events.next(),
    return() {
      // A generator does not return before its pending `next` has settled.
      cancellation.cancel();
      return events.return(undefined);
    },
  };
}

async function* follow<Event>(
  source: Source,
  codec: Codec<Event>,
  after: Head,
  cancellation: Cancellation,
): AsyncGenerator<RecordedEvent<Event>, undefined> {
  let head = after;
  while (!cancellation.isCancelled()) {
    const result = await source.read(head);
    if (result === undefined) continue;
    const page = pageAfter(head, result);
    for (const stored of page.events) {
      head = headOf(stored);
      yield { ...stored, event: decodeEvent(codec, stored) };
      if (cancellation.isCancelled()) return;
    }
    if (!page.more) await source.untilChanged(head, page.events.length > 0);
  }
}

/** A stream of a store, as one subscriber uses it. */
class Source {
  #available = true;
  /** Whether the last wait ended by a notification. */
  #notified = false;

  constructor(
    private readonly store: EventStore,
    private readonly stream: StreamName,
    private readonly clock: Clock,
    private readonly cancellation: Cancellation,
    private readonly reportUnavailable: SubscribeOptions<unknown>['unavailable'],
  ) {}

  /** A page after `head`; `undefined` when cancelled, or a while after the store was unavailable. */
  async read(head: Head): Promise<ReadResult | undefined> {
    try {
      const page = await this.#readInTime(head);
      this.#available = true;
      return page;
    } catch (error) {
      if (!isTransient(error)) throw error;
      if (this.#available) this.reportUnavailable?.(error);
      this.#available = false;
      await this.#wait(error.retryAfterMs ?? POLL_MS);
      return undefined;
    }
  }

  async #readInTime(head: Head): Promise<ReadResult | undefined> {
    let cancelTimer!: () => void;
    const expired = new Promise<never>((_, reject) => {
      const error = new StoreUnavailable('the store does not answer');
      cancelTimer = this.clock.after(READ_MS, () => reject(error));
    });
    try {
      const page = Promise.race([this.store.read(this.stream, head), expired]);
      return await this.cancellation.unlessCancelled(page);
    } finally {
      cancelTimer();
    }
  }

  /**
   * Resolves when the stream may have changed, or when cancelled. `found` says whether the last read found events: a
   * store that notifies without a change may do so again at once, so the next read is then a poll.
   */
  async untilChanged(head: Head, found: boolean): Promise<void> {
    const { store, stream } = this;
    const polls = store.notify === undefined || (this.#notified && !found);
    this.#notified = false;
    if (polls) return this.#wait(POLL_MS);
    await this.#wait(CHECK_MS, (end) =>
      store.notify!(stream, head, () => {
        this.#notified = true;
        end();
      }),
    );
  }

  /** Waits for `ms`, or for the call that `notify` arranges, or until cancelled. */
  async #wait(ms: number, notify?: (end: () => void) => () => void): Promise<void> {
    let end!: () => void;
    const ended = new Promise<void>((resolve) => (end = resolve));
    const cancelNotification = notify?.(end);
    const cancelTimer = this.clock.after(ms, end);
    await this.cancellation.unlessCancelled(ended);
    cancelTimer();
    cancelNotification?.();
  }
}
