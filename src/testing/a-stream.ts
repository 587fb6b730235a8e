/** The words that the contract of the event store is written in. */
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
  headOf,
} from '../application';
import type { PlantEvent } from '../domain';
import { created, deleted, ferns } from './events';

export const fern = created(1, 'Fern', 'indoor');
export const moss = created(2, 'Moss');
export const gone = deleted(1);

/** One stream of the store under test. Without a name it is a new one. */
export class Stream {
  constructor(
    private readonly store: EventStore,
    readonly name: string = `contract ${randomUUID()}`,
  ) {}

  read(after: Head): Promise<ReadResult> {
    return this.store.read(this.name, after);
  }

  append(expected: Head, commit: string, events: readonly PlantEvent[]): Promise<AppendResult> {
    return this.store.append(this.name, expected, commit, events);
  }

  /** Appends `events` as one commit, which nothing is in the way of. Resolves with the new head. */
  async add(expected: Head, ...events: PlantEvent[]): Promise<Head> {
    const commit = mintCommit();
    const result = await this.append(expected, commit, events);
    const head = { version: expected.version + events.length, commit };
    assert.deepEqual(result, { status: 'appended', head });
    return head;
  }

  /** Appends `count` events, a few at a time. */
  async grow(expected: Head, count: number): Promise<Head> {
    let head = expected;
    for (let left = count; left > 0; left -= 50) head = await this.add(head, ...ferns(Math.min(left, 50)));
    return head;
  }

  /** All that is recorded behind `after`. */
  async history(after: Head = BEGINNING): Promise<RecordedEvent[]> {
    const result = await this.read(after);
    assertStatus(result, 'read');
    const first = result.events[0]?.version ?? after.version + 1;
    assert.equal(first, after.version + 1, 'a page must begin right behind what was asked for');
    return this.rest(result);
  }

  /** `page` and what reading on from its end yields. */
  async rest(page: NewerEvents): Promise<RecordedEvent[]> {
    const last = page.events.at(-1);
    if (!page.more) return [...page.events];
    assert(last !== undefined, 'a page with `more` must not be empty');
    return [...page.events, ...(await this.history(headOf(last)))];
  }
}

/** That an answer is the one that is due. */
export function assertStatus<Result extends { readonly status: string }, Status extends Result['status']>(
  result: Result,
  status: Status,
): asserts result is Extract<Result, { readonly status: Status }> {
  assert.equal(result.status, status, `answered ${result.status} where ${status} is due`);
}

/** That a page is full enough, and no fuller than the store says it gets. */
export function assertPage({ events, more }: NewerEvents, pageSize: number): void {
  assert.equal(more, true, 'there is more than a page');
  assert(
    events.length >= 1 && events.length <= pageSize,
    `a page of 1 … ${pageSize} events is due, not one of ${events.length}`,
  );
}

export function mintCommit(): string {
  return randomUUID();
}

/** What `events` look like once they are recorded behind `expected` as one commit. */
export function recorded(expected: Head, commit: string, events: readonly PlantEvent[]): RecordedEvent[] {
  return events.map((event, index) => ({ version: expected.version + index + 1, commit, event }));
}
