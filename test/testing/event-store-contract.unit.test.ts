/** The contract must detect broken stores; otherwise its success would be meaningless. */
import { expect } from 'chai';
import { MemoryEventStore } from '../../src/adapters/memory';
import type { EventStore } from '../../src/event-sourcing';
import {
  type ContractCase,
  type ContractOptions,
  type OpenStore,
  eventStoreContract,
} from '../../src/testing';
import { BROKEN_ENTRIES, BROKEN_FEEDS } from './broken-feeds';
import { BROKEN_PLACES } from './broken-places';
import { BROKEN } from './broken-stores';
import { FEED_LENGTH, PAGE_SIZE } from './disk';
import { SimulatedPlace, openOn } from './simulated-place';

const SEED = 42;

describe('The contract of an event store', () => {
  it('accepts a store without faults, with all options', async () => {
    expect(await failures(new SimulatedPlace())).to.be.empty;
  });

  for (const [what, change] of Object.entries(BROKEN)) {
    it(`detects a store that ${what}`, async () => {
      expect(await detects({ open: openOn(change) })).to.equal(true);
    });
  }

  for (const [what, faults] of Object.entries(BROKEN_PLACES)) {
    it(`detects a store that ${what}`, async () => {
      expect(await detects(new SimulatedPlace(faults))).to.equal(true);
    });
  }

  it('accepts a feed without faults', async () => {
    expect(await failures({ open: openOn(), options: { feedLength: FEED_LENGTH } })).to.be.empty;
  });

  const feeds = [
    [BROKEN_ENTRIES, /^a feed( has|, concurrently)/],
    [BROKEN_FEEDS, /^a feed/],
  ] as const;
  for (const [broken, only] of feeds)
    for (const [what, fault] of Object.entries(broken)) {
      it(`detects a store that ${what}`, async () => {
        const options = { feedLength: FEED_LENGTH, timeoutMs: 500 };
        expect(await detects({ open: openOn(fault), options }, only)).to.equal(true);
      });
    }

  it('detects a store that claims to be durable and is not', async () => {
    const open = () => ({ store: new MemoryEventStore(PAGE_SIZE) });
    const failed = await failures({ open, options: { durable: true } });
    expect(failed.map(({ name }) => name.slice(0, 16))).to.deep.equal(Array(5).fill('a reopened store'));
  });

  it('detects a store that claims to be shared and is not', async () => {
    const open = () => ({ store: new MemoryEventStore(PAGE_SIZE) });
    const failed = await failures({ open, options: { shared: true } });
    expect(failed.map(({ suite }) => suite)).to.deep.equal([
      ...Array<string>(5).fill('examples'),
      'differential',
    ]);
  });

  it('detects a store that does not respond, within the time limit', async () => {
    const silent: EventStore = {
      read: () => new Promise(() => {}),
      append: () => new Promise(() => {}),
    };
    const cases = eventStoreContract(() => ({ store: silent }), { pageSize: 1, timeoutMs: 20 });
    await expectRejection(cases[0]!.run(), 'took longer than 20 ms');
  });

  it('detects a store that never answers after it was closed, within the time limit', async () => {
    const open = openOn({ whenClosed: () => new Promise(() => {}) });
    const closed = eventStoreContract(open, { pageSize: PAGE_SIZE, timeoutMs: 20 }).find(({ name }) =>
      name.startsWith('a closed store'),
    )!;
    await expectRejection(closed.run(), 'took longer than 20 ms');
  });

  it('names the seed of failed random work, and repeats it with that seed', async () => {
    const open = openOn(BROKEN['never sets `more`']);
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
    const openBroken = openOn(BROKEN['returns no events with a conflict']);
    const open = async () => {
      opened++;
      return {
        ...(await openBroken()),
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

interface TestedStore {
  readonly open: () => OpenStore | Promise<OpenStore>;
  readonly options?: Partial<ContractOptions>;
}

function casesOf({ open, options }: TestedStore): ContractCase[] {
  return eventStoreContract(open, { pageSize: PAGE_SIZE, seed: SEED, ...options });
}

/** Whether a store fails any case; with `only`, any with such a name. */
async function detects(candidate: TestedStore, only = /(?:)/): Promise<boolean> {
  for (const { name, run } of casesOf(candidate))
    if (only.test(name) && (await failureOf(run()))) return true;
  return false;
}

/** The cases that a store fails. */
async function failures(candidate: TestedStore): Promise<ContractCase[]> {
  const failed: ContractCase[] = [];
  for (const each of casesOf(candidate)) if (await failureOf(each.run())) failed.push(each);
  return failed;
}

async function failureOf(work: Promise<void>): Promise<Error | undefined> {
  return work.then(
    () => undefined,
    (error: unknown) => error as Error,
  );
}

async function messageOf(work: Promise<void>): Promise<string> {
  return (await failureOf(work))?.message ?? expect.fail('passed');
}

async function expectRejection(work: Promise<void>, message: string): Promise<void> {
  expect(await messageOf(work)).to.equal(message);
}

function step(message: string): string | undefined {
  return /step \d+, an? \w+/.exec(message)?.[0];
}
