/** Each contract accepts the stores in memory, and each of its cases finds a store that violates its guarantee. */
import { expect } from 'chai';
import { MemoryEventStore } from '../../src/adapters/memory';
import type { StreamName } from '../../src/event-sourcing';
import {
  checkpointStoreContract,
  eventStoreContract,
  snapshotStoreContract,
  streamIndexContract,
} from '../../src/testing';
import { BROKEN_EVENT_STORES } from './broken-event-stores';
import { BROKEN_CHECKPOINTS, BROKEN_INDEXES, BROKEN_SNAPSHOTS } from './broken-other-stores';
import { type Fault, PAGE_SIZE, Place } from './place';

const PORTS = {
  'an event store': [eventStoreContract, BROKEN_EVENT_STORES],
  'a stream index': [streamIndexContract, BROKEN_INDEXES],
  'a snapshot store': [snapshotStoreContract, BROKEN_SNAPSHOTS],
  'a checkpoint store': [checkpointStoreContract, BROKEN_CHECKPOINTS],
} as const;

/** The cases of a contract with all options, for stores on one place. */
function casesOf(contract: (typeof PORTS)[keyof typeof PORTS][0], fault?: Fault) {
  const { open, loseReply, snapshots } = new Place(fault);
  const damage = (stream: StreamName) => void snapshots.damaged.add(stream);
  const all = { durable: true, shared: true, erases: true, loseReply, damage };
  return contract(open, { ...all, pageSize: PAGE_SIZE, seed: 42 });
}

/** Rows as some databases return them. */
function withoutPrototype(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutPrototype);
  if (typeof value !== 'object' || Object.getPrototypeOf(value ?? []) !== Object.prototype) return value;
  const members = Object.entries(value!).map(([name, member]) => [name, withoutPrototype(member)]);
  return Object.assign(Object.create(null), Object.fromEntries(members)) as unknown;
}

for (const [port, [contract, broken]] of Object.entries(PORTS))
  describe(`The contract of ${port}`, () => {
    for (const { name, run } of casesOf(contract)) it(`accepts the stores in memory: ${name}`, run);

    it('accepts rows without a prototype', async () => {
      for (const { run } of casesOf(contract, () => ({ result: withoutPrototype }))) await run();
    });

    for (const [row, fault] of Object.entries(broken)) {
      const [guarantee, what] = row.split(' / ') as [string, string];
      it(`finds one that ${what}: ${guarantee}`, async () => {
        for (const { name, run } of casesOf(contract, fault))
          if (name.includes(guarantee))
            expect(await run().catch((error: unknown) => error), name).to.be.an('error');
      });
    }

    it('has no guarantee without such a store', () => {
      const names = casesOf(contract).map(({ name }) => name);
      const parts = Object.keys(broken).map((row) => row.split(' / ')[0]!);
      expect(names.filter((name) => !parts.some((part) => name.includes(part)))).to.deep.equal([]);
      expect(parts.filter((part) => !names.some((name) => name.includes(part)))).to.deep.equal([]);
    });
  });

describe('The contract of an event store', () => {
  for (const pageSize of [1, 1000])
    for (const { name, run } of eventStoreContract(() => ({ store: new MemoryEventStore(pageSize) }), {
      pageSize,
    }))
      it(`accepts MemoryEventStore with ${pageSize} to a page: ${name}`, run);

  const silent = () => new Promise<never>(() => {});

  it('fails for a store that does not answer, also once it is closed, within its time limit', async () => {
    for (const fault of [() => ({ store: { read: silent, append: silent } }), () => ({ closed: silent })]) {
      const cases = eventStoreContract(new Place(fault).open, { pageSize: PAGE_SIZE, timeoutMs: 50 });
      const { run } = cases.find(({ name }) => name.startsWith('a closed store'))!;
      expect(await run().catch(String)).to.include('took longer than 50 ms');
    }
  });

  it('repeats a failed random case with its seed', async () => {
    const seedOf = async (given?: { readonly seed: number }) => {
      const fault = BROKEN_EVENT_STORES['for any calls / shows what is newer at the second read'];
      const cases = eventStoreContract(new Place(fault).open, { pageSize: PAGE_SIZE, ...given });
      const message = await cases
        .find(({ name }) => name.startsWith('for any calls,'))!
        .run()
        .catch(String);
      return Number(/seed: (-?\d+)/.exec(String(message))?.[1]);
    };
    const seed = await seedOf();
    expect(await seedOf({ seed })).to.equal(seed);
  });
});
