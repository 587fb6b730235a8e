/** The words that the contract of the event store is written in. */
import { expect } from 'chai';
import { randomUUID } from 'node:crypto';
import {
  type AppendResult,
  BEGINNING,
  type EventStore,
  type Head,
  type NewerEvents,
  type ReadResult,
  type RecordedEvent,
} from '../../src/application';
import type { PlantEvent } from '../../src/domain';
import { created, deleted, ferns } from '../support/given';

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
    expect(result).to.deep.equal({ status: 'appended', head });
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
    if (result.status !== 'read') return expect.fail(`reading ${this.name} answered ${result.status}`);
    const first = result.events[0]?.version ?? after.version + 1;
    expect(first, 'where the page begins').to.equal(after.version + 1);
    return this.rest(result);
  }

  /** `page` and what reading on from its end yields. */
  async rest(page: NewerEvents): Promise<RecordedEvent[]> {
    const last = page.events.at(-1);
    if (!page.more) return [...page.events];
    if (last === undefined) return expect.fail('an empty page promised more');
    return [...page.events, ...(await this.history(headOf(last)))];
  }
}

/** The place right behind an event. */
export function headOf({ version, commit }: RecordedEvent): Head {
  return { version, commit };
}

export function mintCommit(): string {
  return randomUUID();
}

/** What `events` look like once they are recorded behind `expected` as one commit. */
export function recorded(expected: Head, commit: string, events: readonly PlantEvent[]): RecordedEvent[] {
  return events.map((event, index) => ({ version: expected.version + index + 1, commit, event }));
}
