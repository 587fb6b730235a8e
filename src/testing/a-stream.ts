/** Helpers of the event store contract: a stream, and assertions. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { commitIds } from '../adapters/system';
import {
  type AppendResult,
  BEGINNING,
  type EncodedEvent,
  type EventStore,
  type Head,
  type EventPage,
  type ReadResult,
  type StoredEvent,
  type StreamName,
  headOf,
  parseStreamName,
} from '../event-sourcing';

/** A stream of the store under test; by default a new one. */
export class Stream {
  constructor(
    private readonly store: EventStore,
    readonly name: StreamName = streamName(`contract ${randomUUID()}`),
  ) {}

  read(after: Head): Promise<ReadResult> {
    return this.store.read(this.name, after);
  }

  append(expected: Head, commit: string, events: readonly EncodedEvent[]): Promise<AppendResult> {
    return this.store.append(this.name, expected, commit, events);
  }

  /** Appends `events` as one commit at the end of the stream. Resolves with the new head. */
  async add(expected: Head, ...events: EncodedEvent[]): Promise<Head> {
    const commit = nextCommit();
    const result = await this.append(expected, commit, events);
    const head = { version: expected.version + events.length, commit };
    assert.deepEqual(result, { status: 'appended', head });
    return head;
  }

  /** Appends `events`, fifty at a time. */
  async grow(expected: Head, events: readonly EncodedEvent[]): Promise<Head> {
    let head = expected;
    for (let start = 0; start < events.length; start += 50)
      head = await this.add(head, ...events.slice(start, start + 50));
    return head;
  }

  /** All events after `after`. */
  async history(after: Head = BEGINNING): Promise<StoredEvent[]> {
    return this.rest(await this.#pageAfter(after));
  }

  /** `page` and all later events. */
  async rest(page: EventPage): Promise<StoredEvent[]> {
    const events = [...page.events];
    for (let current = page; current.more;) {
      const last = current.events.at(-1);
      assert(last !== undefined, 'a page with `more` must not be empty');
      current = await this.#pageAfter(headOf(last));
      events.push(...current.events);
    }
    return events;
  }

  async #pageAfter(head: Head): Promise<EventPage> {
    const page = await this.read(head);
    assertStatus(page, 'read');
    const first = page.events[0]?.version ?? head.version + 1;
    assert.equal(first, head.version + 1, 'a page must begin right after the requested head');
    return page;
  }
}

/** Asserts that a history is equal to `expected`. The failure shows the first event that differs. */
export function assertHistory(history: readonly StoredEvent[], expected: readonly StoredEvent[]): void {
  for (const [index, event] of expected.slice(0, history.length).entries()) {
    // deepEqual of whole histories would hide the difference in a long text.
    if (!isDeepStrictEqual(history[index], event)) assert.deepEqual(history[index], event);
  }
  assert.equal(
    history.length,
    expected.length,
    `${history.length} events were read instead of ${expected.length}`,
  );
}

/** The result of a read at the end of a stream. */
export const NOTHING_NEWER = { status: 'read', events: [], more: false } as const;

/** Asserts the status of a result. */
export function assertStatus<Result extends { readonly status: string }, Status extends Result['status']>(
  result: Result,
  status: Status,
): asserts result is Extract<Result, { readonly status: Status }> {
  assert.equal(result.status, status, `the result is ${result.status}, and must be ${status}`);
}

/** Asserts that a page is not the last one, and not larger than the store's page size. */
export function assertPage({ events, more }: EventPage, pageSize: number): void {
  assert.equal(more, true, 'there is more than a page');
  assert(
    events.length >= 1 && events.length <= pageSize,
    `a page must have 1 … ${pageSize} events, not ${events.length}`,
  );
}

/** A unique commit id, in the format of the service. */
export const nextCommit = commitIds();

/** `events` as they are recorded after `expected` by one commit. */
export function recorded(expected: Head, commit: string, events: readonly EncodedEvent[]): StoredEvent[] {
  return events.map(({ type, data }, index) => ({
    version: expected.version + index + 1,
    commit,
    type,
    data,
  }));
}

/** `text` as a stream name. Throws RangeError if it is invalid. */
export function streamName(text: string): StreamName {
  const name = parseStreamName(text);
  if (name === undefined) throw new RangeError(`${JSON.stringify(text)} is not a valid stream name`);
  return name;
}
