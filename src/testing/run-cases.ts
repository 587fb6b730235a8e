import { randomInt } from 'node:crypto';
import { type Cases, Subject } from './case';
import type { ContractOptions } from './options';
import { type OpenStore, Place } from './place';

export interface ContractCase {
  /** Examples, one per guarantee; properties for any events; differential, random work compared with the memory store. */
  readonly suite: 'examples' | 'properties' | 'differential';
  /** The guarantee. */
  readonly name: string;
  /** Opens a store, and rejects if it violates the guarantee. */
  readonly run: () => Promise<void>;
}

/** The cases of `suites`. Each opens a store with `open`, and closes it at its end. */
export function contractCases(
  open: () => OpenStore | Promise<OpenStore>,
  { pageSize = 1, effort = 1, timeoutMs = 10_000, ...options }: Partial<ContractOptions>,
  suites: Partial<Record<ContractCase['suite'], readonly Cases[]>>,
): ContractCase[] {
  async function run(guarantee: Cases[string]): Promise<void> {
    const place = new Place(open, options.loseReply, options.loseEvents);
    const { seed = randomInt(2 ** 31), feedLength = 0 } = options;
    try {
      const store = await within(timeoutMs, place.open());
      await within(timeoutMs, guarantee(new Subject(store, place, pageSize, seed, effort, feedLength)));
    } finally {
      await within(timeoutMs, place.closeAll());
    }
  }
  return Object.entries(suites).flatMap(([suite, groups]) =>
    groups
      .flatMap((group) => Object.entries(group))
      .map(([name, guarantee]) => ({
        suite: suite as ContractCase['suite'],
        name,
        run: () => run(guarantee),
      })),
  );
}

/** A store that never answers must not hang its test, also if the test framework has no timeout. */
async function within<T>(ms: number, work: T | Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`took longer than ${ms} ms`)), ms);
  });
  return Promise.race([work, late]).finally(() => clearTimeout(timer));
}
