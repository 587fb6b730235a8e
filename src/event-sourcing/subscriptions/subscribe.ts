import { type Codec, type RecordedEvent, recordedEvent } from '../codec';
import { pageAfter } from '../loading/replay';
import type { Clock } from '../ports/clock';
import { type EventStore, type Head, headOf } from '../ports/event-store';
import type { StoreUnavailable } from '../ports/faults';
import type { StreamName } from '../ports/stream-name';
import { Cancellation, type CancelSignal } from './cancellation';
import { StoreReader } from './store-reader';

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
  const reader = new StoreReader(clock, cancellation, unavailable);
  const events = follow(store, stream, reader, codec, headOf(after), cancellation);
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
  store: EventStore,
  stream: StreamName,
  reader: StoreReader,
  codec: Codec<Event>,
  after: Head,
  cancellation: Cancellation,
): AsyncGenerator<RecordedEvent<Event>, undefined> {
  let head = after;
  while (!cancellation.isCancelled()) {
    const result = await reader.read(() => store.read(stream, head));
    if (result === undefined) continue;
    const page = pageAfter(head, result);
    for (const stored of page.events) {
      head = headOf(stored);
      yield recordedEvent(codec, stored);
      if (cancellation.isCancelled()) return;
    }
    if (page.more) continue;
    const notify = store.notify && ((changed: () => void) => store.notify!(stream, head, changed));
    await reader.untilChanged(notify, page.events.length > 0);
  }
}
