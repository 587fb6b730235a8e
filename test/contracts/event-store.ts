/** Runs the published contracts (src/testing) under mocha. */
import {
  type ContractCase,
  type ContractOptions,
  type OpenStore,
  eventStoreContract,
} from '../../src/testing';

export interface StoreCandidate extends ContractOptions {
  readonly name: string;
  readonly open: () => OpenStore | Promise<OpenStore>;
  /** Only the cases with these names; all of them by default. */
  readonly only?: RegExp;
}

/** LONG multiplies the random work by 25, SEED repeats a failed run. */
const LONG = process.env['LONG'] === '1';
const SEED = process.env['SEED'];

/** Options of every contract. */
export const CONTRACT_OPTIONS = {
  timeoutMs: LONG ? 200_000 : 10_000,
  ...(SEED === undefined ? {} : { seed: Number(SEED) }),
};

export function describeEventStore(candidate: StoreCandidate): void {
  const { name, open, only = /(?:)/, ...options } = candidate;
  const cases = eventStoreContract(open, { effort: LONG ? 25 : 1, ...options, ...CONTRACT_OPTIONS });
  describeContract(
    `${name} satisfies the contract of an event store`,
    cases.filter((each) => only.test(each.name)),
  );
}

export function describeContract(title: string, cases: readonly ContractCase[]): void {
  describe(title, function () {
    // The case has a shorter time limit of its own, with a better message.
    this.timeout(CONTRACT_OPTIONS.timeoutMs + 5000);
    for (const { name, run } of cases) it(name, run);
  });
}
