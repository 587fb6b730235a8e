/**
 * Each contract accepts the stores in memory, and each of its cases finds a store that violates its
 * guarantee.
 */
import { expect } from 'chai';
import { MemoryEventStore, MemorySnapshots } from '../../src/adapters/memory';
import { plantKind } from '../../src/application';
import type { StateCodec, StreamName } from '../../src/event-sourcing';
import {
  checkpointStoreContract,
  eventStoreContract,
  snapshotStoreContract,
  stateCodecContract,
  streamIndexContract,
} from '../../src/testing';
import { create, remove } from '../support/given';
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
      it(`fails for a store that ${what}: ${guarantees.replaceAll('|', ', ')}`, async () => {
        for (const { name, run } of casesOf(contract, fault))
          if (guarantees.split('|').some((part) => name.includes(part)))
            expect(await run().catch((error: unknown) => error), name).to.be.an('error');
      });
    }

    it('has a broken store for each of its cases', () => {
      const names = casesOf(contract).map(({ name }) => name);
      const parts = Object.keys(stores).flatMap((row) => row.split(' / ')[0]!.split('|'));
      expect(names.filter((name) => !parts.some((part) => name.includes(part)))).to.deep.equal([]);
      expect(parts.filter((part) => !names.some((name) => name.includes(part)))).to.deep.equal([]);
    });
  });

describe('Snapshots in memory', () => {
  const open = () => {
    const store = new MemoryEventStore(PAGE_SIZE);
    return { store, index: store, snapshots: new MemorySnapshots(store) };
  };
  for (const { name, run } of snapshotStoreContract(open, { erases: true }))
    it(`satisfy the contract: ${name}`, run);
});

describe('The contract of a state codec', () => {
  /** Changes in place. */
  type State = { sum: number; largest: number };
  const decider = {
    initialState: () => ({ sum: 0, largest: 0 }),
    decide: (by: number, { largest }: State) =>
      by > 2 * largest + 1 ? { rejection: 'too-large' } : { events: [by] },
    evolve(state: State, by: number) {
      state.sum += by;
      state.largest = Math.max(state.largest, by);
      return state;
    },
  };
  const whole: StateCodec<State> = {
    format: 'sums-1',
    encode: ({ sum, largest }) => [JSON.stringify({ sum }), JSON.stringify({ largest })],
    decode: (state, chunk) => ({ ...state, ...(JSON.parse(chunk) as object) }),
  };
  const casesOf = (codec: Partial<StateCodec<State>>) => {
    const kind = {
      category: 'sums',
      decider,
      codec: null as never,
      stateCodec: { ...whole, ...codec },
    };
    return stateCodecContract(kind, [1, 2, 3, 9], { seed: 42 });
  };
  const plants = stateCodecContract(plantKind, [
    create(1, 'Fern'),
    create(2, 'Moss', 'wet'),
    remove(1),
  ]);

  for (const { name, run } of [...casesOf({}), ...plants])
    it(`accepts a correct codec: ${name}`, run);

  for (const [row, codec] of Object.entries<Partial<StateCodec<State>>>({
    'equals the one|decides every later command / forgets a member of the state': {
      encode: ({ sum }) => [JSON.stringify({ sum })],
    },
    'a truncated chunk / accepts a truncated chunk': {
      decode: (state, chunk) => {
        const [, name, number] = /"(\w+)":(\d*)/.exec(chunk)!;
        return { ...state, [name!]: Number(number) };
      },
    },
    'once their iteration has begun / returns chunks that change with the state': {
      *encode(state) {
        yield JSON.stringify({ sum: state.sum });
        yield JSON.stringify({ largest: state.largest });
      },
    },
  })) {
    const [guarantees, what] = row.split(' / ') as [string, string];
    it(`fails for a codec that ${what}`, async () => {
      for (const { name, run } of casesOf(codec)) {
        const mustFind = guarantees.split('|').some((part) => name.includes(part));
        const error: unknown = await run().catch((failure: unknown) => failure);
        expect(error !== undefined, name).to.equal(mustFind);
      }
    });
  }
});

describe('The contract of an event store', () => {
  it('accepts rows without a prototype, as some databases return them', async () => {
    const withoutPrototype = (_name: string, value: unknown): unknown =>
      value?.constructor === Object ? Object.assign(Object.create(null), value) : value;
    const result = (row: unknown) => JSON.parse(JSON.stringify(row), withoutPrototype) as unknown;
    for (const { run } of casesOf(eventStoreContract, () => ({ result }))) await run();
  });

  it('shows the last calls before a failure of any case', async () => {
    const fault: Fault = ({ events }) => ({
      store: {
        async read(...call) {
          const page = await events.read(...call);
          return page.status === 'read'
            ? { ...page, events: page.events.slice(0, 2), more: false }
            : page;
        },
      },
    });
    const { run } = casesOf(eventStoreContract, fault).find(({ name }) =>
      name.includes('1,024 events'),
    )!;
    expect(await run().catch(String)).to.match(
      /\nThe last calls of a stream were:\n {2}append\(".+", \{"version":0.+, 1024 events\)\n {2}read\(".+\)\n$/,
    );
  });

  const silent = () => new Promise<never>(() => {});

  it('fails within its time limit for a store that does not answer, even if only after it was closed', async () => {
    for (const fault of [
      () => ({ store: { read: silent, append: silent } }),
      () => ({ closed: silent }),
    ]) {
      const cases = eventStoreContract(new Place(fault).open, {
        pageSize: PAGE_SIZE,
        timeoutMs: 50,
      });
      const { run } = cases.find(({ name }) => name.startsWith('a closed store'))!;
      expect(await run().catch(String)).to.include('took longer than 50 ms');
    }
  });

  it('repeats a failed random case with the same seed, and shows the failed call in ASCII', async () => {
    const seedOf = async (given?: { readonly seed: number }) => {
      const cases = eventStoreContract(new Place(broken.readingLate).open, {
        pageSize: PAGE_SIZE,
        ...given,
      });
      const random = cases.find(({ name }) => name.startsWith('random calls have'))!;
      const message = String(await random.run().catch(String));
      // The call that failed with its arguments, after the fewest calls that were found.
      expect(message).to.match(
        /: (?:read|append)\("contract [-0-9a-f]+", \{"version":\d+,"commit":"[-0-9a-f]*"\}.*\): /,
      );
      expect(message).to.match(/^\p{ASCII}*$/u);
      return Number(/seed: (-?\d+)/.exec(message)?.[1]);
    };
    const seed = await seedOf();
    expect(await seedOf({ seed })).to.equal(seed);
  });
});
