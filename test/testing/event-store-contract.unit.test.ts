/** The contract finds broken stores out: otherwise that a store keeps it would mean nothing. */
import { expect } from 'chai';
import { MemoryEventStore } from '../../src/adapters/memory';
import type { EventStore } from '../../src/application';
import { type ContractOptions, eventStoreContract } from '../../src/testing';
import { BROKEN as BROKEN_INSTANCES } from '../application/broken-stores';
import { BROKEN, PAGE_SIZE } from './broken-stores';

const SEED = 42;

describe('The contract of an event store', () => {
  for (const [what, open] of Object.entries(BROKEN)) {
    it(`finds out a store that ${what}`, async () => {
      expect(await failures(open)).to.not.be.empty;
    });
  }

  // Its broken promise is about faults, which the contract cannot bring about in a store.
  const others = Object.entries(BROKEN_INSTANCES).filter(
    ([what]) => what !== 'calls a lost reply "unavailable"',
  );
  for (const [what, broken] of others) {
    it(`finds out a store that ${what}, by each of its suites`, async () => {
      const failed = await failures(() => broken(new MemoryEventStore(PAGE_SIZE)));
      const suites = new Set(failed.map(({ suite }) => suite));
      expect([...suites]).to.have.members(['examples', 'properties', 'differential']);
    });
  }

  it('finds out a store that calls itself durable and is not', async () => {
    const failed = await failures(() => new MemoryEventStore(PAGE_SIZE), { durable: true });
    expect(failed.map(({ name }) => name)).to.deep.equal([
      'a store that is opened again has the history, and goes on behind it',
      'a store that is opened again knows the appends that landed before',
    ]);
  });

  it('finds out a store that never answers, in the time it is given', async () => {
    const silent: EventStore = { read: () => new Promise(() => {}), append: () => new Promise(() => {}) };
    const cases = eventStoreContract(() => ({ store: silent }), { pageSize: 1, timeoutMs: 20 });
    await expectRejection(cases[0]!.run(), 'took longer than 20 ms');
  });

  it('names the seed of random work that failed, and plays it again', async () => {
    const open = () => ({ store: BROKEN['says that a page is all']!() });
    const differential = (options: Partial<ContractOptions>) =>
      eventStoreContract(open, { pageSize: PAGE_SIZE, ...options }).find(
        ({ suite }) => suite === 'differential',
      )!;
    const failure = await messageOf(differential({}).run());
    const seed = Number(/seed (\d+) repeats it; /.exec(failure)?.[1]);
    expect(await messageOf(differential({ seed }).run())).to.match(new RegExp(`^seed ${seed} repeats it; `));
    expect(step(await messageOf(differential({ seed }).run()))).to.equal(step(failure));
  });

  it('opens a store for each case, and closes what it opened, also where the case fails', async () => {
    let [opened, closed] = [0, 0];
    const open = () => {
      opened++;
      return {
        store: BROKEN['brings nothing with a conflict']!(),
        close: () => {
          closed++;
        },
      };
    };
    const cases = eventStoreContract(open, { pageSize: PAGE_SIZE, seed: SEED });
    for (const { run } of cases) await run().catch(() => {});
    expect([opened, closed]).to.deep.equal([cases.length, cases.length]);
  });
});

/** The cases that `open`'s stores do not pass. */
async function failures(open: () => EventStore, options: Partial<ContractOptions> = {}) {
  const cases = eventStoreContract(() => ({ store: open() }), {
    pageSize: PAGE_SIZE,
    seed: SEED,
    ...options,
  });
  const failed: (typeof cases)[number][] = [];
  for (const each of cases) await each.run().catch(() => failed.push(each));
  return failed;
}

async function messageOf(work: Promise<void>): Promise<string> {
  return work.then(
    () => expect.fail('passed'),
    (error: unknown) => (error as Error).message,
  );
}

async function expectRejection(work: Promise<void>, message: string): Promise<void> {
  expect(await messageOf(work)).to.equal(message);
}

function step(message: string): string | undefined {
  return /step \d+, an? \w+/.exec(message)?.[0];
}
