import {
  BEGINNING,
  type EventStore,
  type Head,
  type RecordedEvent,
  StoreUnavailable,
  UnreadableHistory,
  headOf,
} from './event-store';
import type { StreamName } from './stream-name';

/** A history was erased, or replaced by another, while it was read. Reading it again helps. */
export class HistoryChanged extends StoreUnavailable {
  override readonly name = 'HistoryChanged';
}

/**
 * Reads all events of `stream` after `after`, page by page, in complete commits.
 *
 * The next page is prefetched while the caller processes this one. Throws
 * {@link HistoryChanged}, {@link UnreadableHistory} and the errors of `store.read`.
 */
export async function* replay<Event>(
  store: EventStore<Event>,
  stream: StreamName,
  after: Head = BEGINNING,
): AsyncGenerator<readonly RecordedEvent<Event>[]> {
  let { version } = after;
  for (let reading = store.read(stream, after); ;) {
    const page = await reading;
    if (page.status === 'reset') throw new HistoryChanged('the history changed while it was read');
    for (const event of page.events) {
      if (event.version !== ++version)
        throw new UnreadableHistory(`event ${event.version} found, expected version ${version}`);
    }
    const last = page.events.at(-1);
    const more = page.more && last !== undefined;
    if (more) {
      reading = store.read(stream, headOf(last));
      // Awaited only if the caller continues.
      reading.catch(() => {});
    }
    yield page.events;
    if (!more) return;
  }
}
