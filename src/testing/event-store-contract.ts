/**
 * The contract of the EventStore port, executable: what its doc comments
 * promise, every store is held to by the same cases. They are plain async
 * functions, so any test framework can run them:
 *
 *     for (const { name, run } of eventStoreContract(open, { pageSize: 3 })) it(name, run);
 *
 * Every case works on streams of its own with names never used before, so the
 * place that a store keeps them in may be shared and need not be empty.
 */
import { randomInt } from 'node:crypto';
import type { EventStore } from '../application';
import { type Cases, Subject } from './case';
import { differentialCases } from './differential';
import { propertyCases } from './properties';
import { racingExamples } from './racing';
import { readingExamples } from './reading';
import { reopeningExamples } from './reopening';
import { writingExamples } from './writing';

export interface OpenStore {
  readonly store: EventStore;
  /** Called behind the last use of the store. */
  close?(): void | Promise<void>;
}

export interface ContractOptions {
  /**
   * How many events a read or a conflict of the store hands over at most. Open
   * it with a small one, 1 or 3, if it can be told: every page boundary is a case.
   */
  readonly pageSize: number;
  /** Whether a store opened later finds what this one recorded; false by default. Adds cases that look. */
  readonly durable?: boolean;
  /** How much random work, as a factor; 1 by default, some 2,000 calls to the store in the longest case. */
  readonly effort?: number;
  /** What the random work follows from. By default a new one each time; a failure names it. */
  readonly seed?: number;
  /** How long one case may take, in ms; 10,000 by default. */
  readonly timeoutMs?: number;
}

export interface ContractCase {
  /** Examples, one a promise; properties, the promises for any events; differential, random work beside the memory store. */
  readonly suite: 'examples' | 'properties' | 'differential';
  /** The promise. */
  readonly name: string;
  /** Opens a store, and rejects where it does not keep the promise. */
  readonly run: () => Promise<void>;
}

/** The cases. `open` is called at the start of each, and what it opens closed at its end. */
export function eventStoreContract(
  open: () => OpenStore | Promise<OpenStore>,
  options: ContractOptions,
): ContractCase[] {
  const { pageSize, durable = false, effort = 1, timeoutMs = 10_000 } = options;

  async function run(promise: Cases[string]): Promise<void> {
    let opened = await open();
    const reopen = async () => {
      await opened.close?.();
      opened = await open();
      return opened.store;
    };
    const seed = options.seed ?? randomInt(2 ** 31);
    try {
      await within(timeoutMs, promise(new Subject(opened.store, reopen, pageSize, seed, effort)));
    } finally {
      await opened.close?.();
    }
  }

  const cases = (suite: ContractCase['suite'], ...groups: readonly Cases[]): ContractCase[] =>
    groups.flatMap((group) =>
      Object.entries(group).map(([name, promise]) => ({ suite, name, run: () => run(promise) })),
    );
  return [
    ...cases('examples', writingExamples, readingExamples, racingExamples, durable ? reopeningExamples : {}),
    ...cases('properties', propertyCases),
    ...cases('differential', differentialCases),
  ];
}

/** A store that never answers must not hang whoever tests it, whatever his framework does about time. */
async function within(ms: number, work: Promise<void>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`took longer than ${ms} ms`)), ms);
  });
  await Promise.race([work, late]).finally(() => clearTimeout(timer));
}
