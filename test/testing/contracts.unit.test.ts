/** Each contract accepts the stores in memory, and each of its cases finds a store that violates its guarantee. */
import { expect } from 'chai';
import type { StreamName } from '../../src/event-sourcing';
import {
  checkpointStoreContract,
  eventStoreContract,
  snapshotStoreContract,
  streamIndexContract,
} from '../../src/testing';
import * as broken from './broken-stores';
import { type Fault, PAGE_SIZE, Place } from './place';

const PORTS = {
  'an event store': [eventStoreContract, broken.EVENT_STORES],
  'a stream index': [streamIndexContract, broken.INDEXES],
  'a snapshot store': [snapshotStoreContract, broken.SNAPSHOTS],
  'a checkpoint store': [checkpointStoreContract, broken.CHECKPOINTS],
} as const;

/** The cases of a contract with all options, for stores on one place. */
function casesOf(contract: (typeof PORTS)[keyof typeof PORTS][0], fault?: Fault) {
  const place = new Place(fault);
  const { open, openBeside, empty, loseReply } = place;
  const damage = (stream: StreamName) => void place.snapshots.damaged.add(stream);
  const all = { durable: true, shared: true, erases: true, loseReply, damage, empty, openBeside };
  return contract(open, { ...all, pageSize: PAGE_SIZE, seed: 42 });
}

for (const [port, [contract, stores]] of Object.entries(PORTS))
  describe(`The contract of ${port}`, () => {
    for (const { name, run } of casesOf(contract)) it(`accepts the stores in memory: ${name}`, run);

    for (const [row, fault] of Object.entries(stores)) {
      const [guarantees, what] = row.split(' / ') as [string, string];
      it(`finds one that ${what}: ${guarantees}`, async () => {
        for (const { name, run } of casesOf(contract, fault))
          if (guarantees.split('|').some((part) => name.includes(part)))
            expect(await run().catch((error: unknown) => error), name).to.be.an('error');
      });
    }

    it('has no guarantee without such a store', () => {
      const names = casesOf(contract).map(({ name }) => name);
      const parts = Object.keys(stores).flatMap((row) => row.split(' / ')[0]!.split('|'));
      expect(names.filter((name) => !parts.some((part) => name.includes(part)))).to.deep.equal([]);
      expect(parts.filter((part) => !names.some((name) => name.includes(part)))).to.deep.equal([]);
    });
  });

describe('The contract of an event store', () => {
  it('accepts rows without a prototype, as some databases return them', async () => {
    const withoutPrototype = (_name: string, value: unknown): unknown =>
      value?.constructor === Object ? Object.assign(Object.create(null), value) : value;
    const result = (row: unknown) => JSON.parse(JSON.stringify(row), withoutPrototype) as unknown;
    for (const { run } of casesOf(eventStoreContract, () => ({ result }))) await run();
  });

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
      const cases = eventStoreContract(new Place(broken.readingLate).open, { pageSize: PAGE_SIZE, ...given });
      const random = cases.find(({ name }) => name.startsWith('for any calls,'))!;
      return Number(/seed: (-?\d+)/.exec(String(await random.run().catch(String)))?.[1]);
    };
    const seed = await seedOf();
    expect(await seedOf({ seed })).to.equal(seed);
  });
});
