/** The contract must detect broken stores; otherwise its success would be meaningless. */
import type { PlantEvent } from '../../src/domain';
import { expect } from 'chai';
import { MemoryEventStore } from '../../src/adapters/memory';
import type { EventStore } from '../../src/event-sourcing';
import { type ContractOptions, eventStoreContract } from '../../src/testing';
import { BROKEN_STORES as BROKEN_INSTANCES } from '../event-sourcing/broken-stores';
import { BROKEN, PAGE_SIZE } from './broken-stores';

const SEED = 42;

describe('The contract of an event store', () => {
  for (const [what, open] of Object.entries(BROKEN)) {
    it(`detects a store that ${what}`, async () => {
      expect(await failures(open)).to.not.be.empty;
    });
  }

  // It violates a guarantee about faults, which the contract cannot cause in a store.
  const others = Object.entries(BROKEN_INSTANCES).filter(
    ([what]) => what !== 'reports a lost reply as unavailable',
  );
  for (const [what, broken] of others) {
    it(`detects a store that ${what}, by each of its suites`, async () => {
      const failed = await failures(() => broken(new MemoryEventStore<PlantEvent>(PAGE_SIZE)));
      const suites = new Set(failed.map(({ suite }) => suite));
      expect([...suites]).to.have.members(['examples', 'properties', 'differential']);
    });
  }

  it('detects a store that claims to be durable and is not', async () => {
    const failed = await failures(() => new MemoryEventStore<PlantEvent>(PAGE_SIZE), { durable: true });
    expect(failed.map(({ name }) => name)).to.deep.equal([
      'a reopened store has the history, and appends after it',
      'a reopened store recognizes earlier appends',
    ]);
  });

  it('detects a store that does not respond, within the time limit', async () => {
    const silent: EventStore<PlantEvent> = {
      read: () => new Promise(() => {}),
      append: () => new Promise(() => {}),
    };
    const cases = eventStoreContract(() => ({ store: silent }), { pageSize: 1, timeoutMs: 20 });
    await expectRejection(cases[0]!.run(), 'took longer than 20 ms');
  });

  it('names the seed of failed random work, and repeats it with that seed', async () => {
    const open = () => ({ store: BROKEN['never sets `more`']!() });
    const differential = (options: Partial<ContractOptions>) =>
      eventStoreContract(open, { pageSize: PAGE_SIZE, ...options }).find(
        ({ suite }) => suite === 'differential',
      )!;
    const failure = await messageOf(differential({}).run());
    const seed = Number(/seed (\d+) repeats it; /.exec(failure)?.[1]);
    expect(await messageOf(differential({ seed }).run())).to.match(new RegExp(`^seed ${seed} repeats it; `));
    expect(step(await messageOf(differential({ seed }).run()))).to.equal(step(failure));
  });

  it('opens a store for each case, and closes it, even if the case fails', async () => {
    let [opened, closed] = [0, 0];
    const open = () => {
      opened++;
      return {
        store: BROKEN['returns no events with a conflict']!(),
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

/** The cases that the stores of `open` fail. */
async function failures(open: () => EventStore<PlantEvent>, options: Partial<ContractOptions> = {}) {
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
