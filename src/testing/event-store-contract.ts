/**
 * The executable contract of the EventStore port: cases that check its documented
 * guarantees. They are async functions, for any test framework:
 *
 *     for (const { name, run } of eventStoreContract(open, { pageSize: 3 })) it(name, run);
 *
 * Each case uses new streams with unique names, so the store need not be empty and
 * may be shared.
 */
import { randomInt } from 'node:crypto';
import type { StreamName } from '../event-sourcing';
import { archivingExamples } from './archiving';
import { type Cases, Subject } from './case';
import { closingExamples } from './closing';
import { commitIdExamples } from './commit-ids';
import { differentialCases } from './differential';
import { durableFeedExamples, feedExamples, sharedFeedExamples } from './feed';
import { lostReplyExamples } from './lost-replies';
import { type OpenStore, Place } from './place';
import { propertyCases } from './properties';
import { racingExamples } from './racing';
import { readingExamples } from './reading';
import { reopeningExamples } from './reopening';
import { sharedDifferentialCases, sharingExamples } from './sharing';
import { writingExamples } from './writing';

export type { OpenStore } from './place';

export interface ContractOptions {
  /**
   * Maximum number of events that a read or a conflict of the store returns. If it is configurable, use a small
   * one, such as 1 or 3, so that page boundaries are tested.
   */
  readonly pageSize: number;
  /** Whether events survive closing and reopening the store; false by default. Adds cases for it. */
  readonly durable?: boolean;
  /**
   * Whether several stores may be open on one place at a time, as in several instances of a service; false by default.
   * Adds cases for it: they call `open` again while a store is open, and it must open another store on the same place.
   */
  readonly shared?: boolean;
  /**
   * Makes the store that was opened last lose the reply of its next call: the call is executed, and its reply never
   * arrives, because the connection breaks or stays silent. Adds cases for unknown outcomes; none without it.
   */
  readonly loseReply?: () => void | Promise<void>;
  /**
   * Deletes all events of a stream and leaves its base snapshot, as an operator might by mistake. Adds cases for a store
   * that archives: `open` must then return its `archive`, too. None without it.
   */
  readonly loseEvents?: (stream: StreamName) => void | Promise<void>;
  /**
   * The number of entries that the feed keeps at least for each bucket; 200 or more. If it is
   * configurable, use a small one.
   * Adds cases for a store with a feed: `open` must then return it, and the `catalogue`, too. None without it.
   */
  readonly feedLength?: number;
  /** Factor of the amount of random work; 1 by default: about 2,000 store calls in the longest case. */
  readonly effort?: number;
  /** Seed of the random work. A new one by default; a failure names it. */
  readonly seed?: number;
  /** Time limit of one case, in ms; 10,000 by default. */
  readonly timeoutMs?: number;
}

export interface ContractCase {
  /** Examples, one per guarantee; properties for any events; differential, random work compared with the memory store. */
  readonly suite: 'examples' | 'properties' | 'differential';
  /** The guarantee. */
  readonly name: string;
  /** Opens a store, and rejects if it violates the guarantee. */
  readonly run: () => Promise<void>;
}

/** The cases. Each opens a store with `open`, and closes it at its end. */
export function eventStoreContract(
  open: () => OpenStore | Promise<OpenStore>,
  options: ContractOptions,
): ContractCase[] {
  const { pageSize, durable = false, shared = false } = options;
  const { loseReply, loseEvents, feedLength = 0, effort = 1, timeoutMs = 10_000 } = options;

  async function run(guarantee: Cases[string]): Promise<void> {
    const place = new Place(open, loseReply, loseEvents);
    const seed = options.seed ?? randomInt(2 ** 31);
    try {
      const store = await within(timeoutMs, place.open());
      await within(timeoutMs, guarantee(new Subject(store, place, pageSize, seed, effort, feedLength)));
    } finally {
      await within(timeoutMs, place.closeAll());
    }
  }

  const cases = (suite: ContractCase['suite'], ...groups: readonly Cases[]): ContractCase[] =>
    groups.flatMap((group) =>
      Object.entries(group).map(([name, guarantee]) => ({ suite, name, run: () => run(guarantee) })),
    );
  const feedCases = [feedExamples, durable ? durableFeedExamples : {}, shared ? sharedFeedExamples : {}];
  return [
    ...cases('examples', writingExamples, commitIdExamples, readingExamples, racingExamples, closingExamples),
    ...cases('examples', durable ? reopeningExamples : {}, shared ? sharingExamples : {}),
    ...cases('examples', loseReply ? lostReplyExamples : {}, loseEvents ? archivingExamples : {}),
    ...cases('examples', ...(feedLength > 0 ? feedCases : [])),
    ...cases('properties', propertyCases),
    ...cases('differential', differentialCases, shared ? sharedDifferentialCases : {}),
  ];
}

/** A store that never answers must not hang its test, also if the test framework has no timeout. */
async function within<T>(ms: number, work: T | Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`took longer than ${ms} ms`)), ms);
  });
  return Promise.race([work, late]).finally(() => clearTimeout(timer));
}
