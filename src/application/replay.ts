import {
  BEGINNING,
  type EventStore,
  type Head,
  type RecordedEvent,
  StoreUnavailable,
  UnreadableHistory,
  headOf,
} from './event-store';

/** While a history was read it was replaced by another, or erased. Nothing was changed; reading it again helps. */
export class HistoryChanged extends StoreUnavailable {
  override readonly name = 'HistoryChanged';
}

/**
 * All that `stream` holds behind `after`, up to a moment after the last page was
 * asked for: whole commits, since an append is recorded whole. Page by page, the
 * next one being fetched while the caller works on this one.
 *
 * Throws {@link HistoryChanged}, {@link UnreadableHistory} and what reading throws.
 */
export async function* replay(
  store: EventStore,
  stream: string,
  after: Head = BEGINNING,
): AsyncGenerator<readonly RecordedEvent[]> {
  let { version } = after;
  for (let reading = store.read(stream, after); ;) {
    const page = await reading;
    if (page.status === 'reset') throw new HistoryChanged('the history changed while it was read');
    for (const event of page.events) {
      if (event.version !== ++version)
        throw new UnreadableHistory(`event ${event.version} stands where version ${version} was expected`);
    }
    const last = page.events.at(-1);
    const more = page.more && last !== undefined;
    if (more) {
      reading = store.read(stream, headOf(last));
      // Awaited only when the caller comes back, which it may never do.
      reading.catch(() => {});
    }
    yield page.events;
    if (!more) return;
  }
}
