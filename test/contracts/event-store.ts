/** The published contract of the event store, as this project's suites run it: src/testing. */
import { type ContractOptions, type OpenStore, eventStoreContract } from '../../src/testing';

export interface Candidate extends ContractOptions {
  readonly name: string;
  readonly open: () => OpenStore | Promise<OpenStore>;
}

const LONG = process.env['LONG'] === '1';
const SEED = process.env['SEED'];

/** LONG does 25 times the random work, SEED plays one again that failed. */
export function describeEventStore({ name, open, timeoutMs = 10_000, ...options }: Candidate): void {
  const limit = LONG ? 20 * timeoutMs : timeoutMs;
  describe(`${name} keeps the contract of an event store`, function () {
    // The case ends by itself before, and then says that time is what it lacked.
    this.timeout(limit + 5000);
    const cases = eventStoreContract(open, {
      ...options,
      timeoutMs: limit,
      effort: LONG ? 25 : 1,
      ...(SEED === undefined ? {} : { seed: Number(SEED) }),
    });
    for (const { name, run } of cases) it(name, run);
  });
}
