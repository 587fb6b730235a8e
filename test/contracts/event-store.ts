/**
 * The contract of the EventStore port, executable: what its doc comments
 * promise, every adapter is held to by the same three suites. An adapter's own
 * test file is one call:
 *
 *     eventStoreContract({ name: 'MemoryEventStore', pageSize: 3, open: … });
 *
 * Every case works on streams of its own with names never used before, so the
 * store may be shared and need not be empty.
 */
import type { EventStore } from '../../src/application';
import { differentialCases } from './event-store-differential';
import { propertyCases } from './event-store-properties';
import { racingExamples } from './event-store-racing';
import { readingExamples } from './event-store-reading';
import { writingExamples } from './event-store-writing';

export interface Candidate {
  readonly name: string;
  /** How many events a read or a conflict hands over at most. Small is strict: every page boundary is a case. */
  readonly pageSize: number;
  /** Called once; whatever it opens is closed behind the last case. */
  open(): Promise<{ readonly store: EventStore; close(): Promise<void> }>;
  /**
   * How long one case may take, in ms; 20 times as long where LONG is set. At
   * one event to a page the longest case makes some 2,000 calls to the store,
   * all together 5,000; bigger pages halve that.
   */
  readonly timeoutMs?: number;
}

/** What the suites know of the store under test. */
export interface Subject {
  /** There only while cases run, not yet while they are declared. */
  readonly store: EventStore;
  readonly pageSize: number;
}

export function eventStoreContract({ name, pageSize, open, timeoutMs = 10_000 }: Candidate): void {
  describe(`${name} keeps the contract of an event store`, function () {
    this.timeout(process.env['LONG'] === '1' ? 20 * timeoutMs : timeoutMs);
    let opened: Awaited<ReturnType<typeof open>> | undefined;
    before(async () => void (opened = await open()));
    after(() => opened?.close());

    const subject: Subject = {
      get store() {
        return opened!.store;
      },
      pageSize,
    };
    writingExamples(subject);
    readingExamples(subject);
    racingExamples(subject);
    propertyCases(subject);
    differentialCases(subject);
  });
}
