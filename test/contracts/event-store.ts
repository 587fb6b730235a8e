/** Runs the published contract of the event store (src/testing) under mocha. */
import { type ContractOptions, type OpenStore, eventStoreContract } from '../../src/testing';

export interface Candidate extends ContractOptions {
  readonly name: string;
  readonly open: () => OpenStore | Promise<OpenStore>;
  /** Only the cases with these names; all of them by default. */
  readonly only?: RegExp;
}

const LONG = process.env['LONG'] === '1';
const SEED = process.env['SEED'];

/** LONG multiplies the random work by 25, SEED repeats a failed run. */
export function describeEventStore(candidate: Candidate): void {
  const { name, open, timeoutMs = 10_000, only = /(?:)/, ...options } = candidate;
  const limit = LONG ? 20 * timeoutMs : timeoutMs;
  describe(`${name} satisfies the contract of an event store`, function () {
    // The case has a shorter time limit of its own, with a better message.
    this.timeout(limit + 5000);
    const cases = eventStoreContract(open, {
      ...options,
      timeoutMs: limit,
      effort: LONG ? 25 : 1,
      ...(SEED === undefined ? {} : { seed: Number(SEED) }),
    });
    for (const { name, run } of cases.filter((each) => only.test(each.name))) it(name, run);
  });
}
