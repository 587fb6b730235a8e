import {
  BEGINNING,
  type EventStore,
  type Head,
  type NewerEvents,
  type ReadResult,
  type RecordedEvent,
  UnreadableHistory,
  headOf,
} from './event-store';
import type { StreamName } from './stream-name';

/** The head to read after is not, or no longer, in the history: it was erased or lost. Reading it from the start helps. */
export class HistoryChanged extends Error {
  override readonly name = 'HistoryChanged';

  constructor(readonly head: Head) {
    super(`event ${head.version} of commit ${head.commit} is not in the history: it was erased or lost`);
  }
}

/** The first events after the head to read after were archived. Reading after the head of the base snapshot helps. */
export class ArchivedHistory extends Error {
  override readonly name = 'ArchivedHistory';

  constructor(readonly head: Head) {
    super(`the events after version ${head.version} are archived`);
  }
}

/**
 * Reads all events of `stream` after `after`, page by page. A page may end within a commit.
 *
 * The next page is prefetched while the caller processes this one. Throws
 * {@link HistoryChanged}, {@link ArchivedHistory}, {@link UnreadableHistory} and the errors of `store.read`.
 */
export async function* replay<Event>(
  store: EventStore<Event>,
  stream: StreamName,
  after: Head = BEGINNING,
): AsyncGenerator<readonly RecordedEvent<Event>[]> {
  let head = headOf(after);
  for (let reading = store.read(stream, head); ;) {
    const page = pageOfRead(await reading, head);
    for (const event of page.events) head = headAfter(head, event);
    if (page.more) {
      reading = store.read(stream, head);
      // Awaited only if the caller continues.
      reading.catch(() => {});
    }
    yield page.events;
    if (!page.more) return;
  }
}

/** The page of a read after `head`. Throws {@link HistoryChanged} or {@link ArchivedHistory}, and as {@link endAfter} does. */
export function pageOfRead<Event>(result: ReadResult<Event>, head: Head): NewerEvents<Event> {
  if (result.status === 'reset') throw new HistoryChanged(head);
  if (result.status === 'archived') throw new ArchivedHistory(head);
  if (result.more) endAfter(head, result);
  return result;
}

/** The head of the last event of a page with `more`, read after `head`. Throws Error if there is none: no read would end. */
export function endAfter(head: Head, page: NewerEvents<unknown>): Head {
  const last = page.end ?? page.events.at(-1);
  if (last !== undefined && last.version > head.version) return headOf(last);
  throw new Error(`the store returned a page with \`more\` that has no event after version ${head.version}`);
}

/** The head after `event`, which must be the next one. Throws {@link UnreadableHistory}. */
export function headAfter<Event>({ version }: Head, event: RecordedEvent<Event>): Head {
  if (event.version === version + 1) return headOf(event);
  throw new UnreadableHistory(`event ${event.version} found, expected version ${version + 1}`);
}
