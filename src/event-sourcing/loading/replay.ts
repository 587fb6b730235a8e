import { type Codec, type RecordedEvent, recordedEvent } from '../codec';
import {
  BEGINNING,
  type EventPage,
  type EventStore,
  type Head,
  headOf,
  type ReadResult,
} from '../ports/event-store';
import { UnreadableHistory } from '../ports/faults';
import type { StreamName } from '../ports/stream-name';

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
  store: EventStore,
  stream: StreamName,
  codec: Codec<Event>,
  after: Head = BEGINNING,
): AsyncGenerator<readonly RecordedEvent<Event>[]> {
  for await (const { events } of pagesAfter((head) => store.read(stream, head), headOf(after)))
    yield events.map((stored) => recordedEvent(codec, stored));
}

/**
 * The pages after `head`, to the end of the history; at least one. The next one is prefetched while the caller processes
 * one. Throws as {@link replay} does.
 */
export async function* pagesAfter(
  read: (after: Head) => Promise<ReadResult>,
  head: Head,
  first = read(head),
): AsyncGenerator<EventPage> {
  let end = head;
  for (let reading = first; ;) {
    const page = pageAfter(end, await reading);
    if (page.more) {
      end = headOf(page.events.at(-1)!);
      reading = read(end);
      // Awaited only if the caller continues.
      reading.catch(() => {});
    }
    yield page;
    if (!page.more) return;
  }
}

/** The page of a read after `head`. Throws {@link HistoryChanged} or {@link ArchivedHistory}, and as {@link checkPage} does. */
export function pageAfter(head: Head, result: ReadResult): EventPage {
  if (result.status === 'reset') throw new HistoryChanged(head);
  if (result.status === 'archived') throw new ArchivedHistory(head);
  checkPage(head, result);
  return result;
}

/**
 * Checks that a page has the events right after `head`. Throws {@link UnreadableHistory} if a version is missing, and
 * Error if the store violates its port: an empty page with `more` would never end.
 */
export function checkPage({ version }: Head, { events, more }: EventPage): void {
  if (more && events.length === 0)
    throw new Error(`the store returned a page with \`more\` that has no event after version ${version}`);
  let expected = version;
  for (const event of events) {
    if (event.version !== ++expected)
      throw new UnreadableHistory(`event ${event.version} found, expected version ${expected}`);
    if (typeof event.type !== 'string' || typeof event.data !== 'string')
      throw new Error(`the store returned event ${expected} without the texts \`type\` and \`data\``);
  }
}
