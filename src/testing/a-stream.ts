/** Helpers of the event store contract: a stream, and assertions. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import {
  type AppendResult,
  BEGINNING,
  type EventStore,
  type Head,
  type NewerEvents,
  type ReadResult,
  type RecordedEvent,
  type StreamName,
  headOf,
  parseStreamName,
} from '../event-sourcing';

/** A stream of the store under test; by default a new one. */
export class Stream<Event> {
  constructor(
    private readonly store: EventStore<Event>,
    readonly name: StreamName = streamName(`contract ${randomUUID()}`),
  ) {}

  read(after: Head): Promise<ReadResult<Event>> {
    return this.store.read(this.name, after);
  }

  append(expected: Head, commit: string, events: readonly Event[]): Promise<AppendResult<Event>> {
    return this.store.append(this.name, expected, commit, events);
  }

  /** Appends `events` as one commit at the end of the stream. Resolves with the new head. */
  async add(expected: Head, ...events: Event[]): Promise<Head> {
    const commit = mintCommit();
    const result = await this.append(expected, commit, events);
    const head = { version: expected.version + events.length, commit };
    assert.deepEqual(result, { status: 'appended', head });
    return head;
  }

  /** Appends `events`, fifty at a time. */
  async grow(expected: Head, events: readonly Event[]): Promise<Head> {
    let head = expected;
    for (let start = 0; start < events.length; start += 50)
      head = await this.add(head, ...events.slice(start, start + 50));
    return head;
  }

  /** All events after `after`. */
  async history(after: Head = BEGINNING): Promise<RecordedEvent<Event>[]> {
    const result = await this.read(after);
    assertStatus(result, 'read');
    const first = result.events[0]?.version ?? after.version + 1;
    assert.equal(first, after.version + 1, 'a page must begin right after the requested head');
    return this.rest(result);
  }

  /** `page` and all later events. */
  async rest(page: NewerEvents<Event>): Promise<RecordedEvent<Event>[]> {
    const last = page.events.at(-1);
    if (!page.more) return [...page.events];
    assert(last !== undefined, 'a page with `more` must not be empty');
    return [...page.events, ...(await this.history(headOf(last)))];
  }
}

/** Asserts the status of a result. */
export function assertStatus<Result extends { readonly status: string }, Status extends Result['status']>(
  result: Result,
  status: Status,
): asserts result is Extract<Result, { readonly status: Status }> {
  assert.equal(result.status, status, `the result is ${result.status}, and must be ${status}`);
}

/** Asserts that a page is not the last one, and not larger than the store's page size. */
export function assertPage({ events, more }: NewerEvents<unknown>, pageSize: number): void {
  assert.equal(more, true, 'there is more than a page');
  assert(
    events.length >= 1 && events.length <= pageSize,
    `a page must have 1 … ${pageSize} events, not ${events.length}`,
  );
}

export function mintCommit(): string {
  return randomUUID();
}

/** `events` as they are recorded after `expected` by one commit. */
export function recorded<Event>(
  expected: Head,
  commit: string,
  events: readonly Event[],
): RecordedEvent<Event>[] {
  return events.map((event, index) => ({ version: expected.version + index + 1, commit, event }));
}

/** `text` as a stream name. Throws RangeError if it is invalid. */
export function streamName(text: string): StreamName {
  const name = parseStreamName(text);
  if (name === undefined) throw new RangeError(`${JSON.stringify(text)} is not a valid stream name`);
  return name;
}
