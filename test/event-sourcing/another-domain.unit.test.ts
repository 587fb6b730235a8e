/** The engine with another domain: immutable state, several events per command, and commands without events. */
import { expect } from 'chai';
import { MemoryEventStore } from '../../src/adapters/memory';
import {
  Aggregates,
  BEGINNING,
  type Decider,
  type EventStore,
  OutcomeUnknown,
  UnreadableHistory,
  jsonCodec,
} from '../../src/event-sourcing';
import { streamName } from '../../src/testing/a-stream';
import { system } from '../../src/adapters/system';

type CoinCommand =
  { readonly type: 'Add'; readonly amount: number } | { readonly type: 'Empty' } | { readonly type: 'Break' };
type CoinEvent = { readonly type: 'Added'; readonly one: 1 } | { readonly type: 'Emptied' };

/** A jar of coins, one event per coin; it holds five. */
const jar: Decider<CoinCommand, CoinEvent, 'full', number> = {
  initialState: () => 0,
  decide(command, coins) {
    switch (command.type) {
      case 'Add':
        if (coins + command.amount > 5) return { rejection: 'full' };
        return { events: Array.from({ length: command.amount }, () => ({ type: 'Added', one: 1 })) };
      case 'Empty':
        return { events: coins === 0 ? [] : [{ type: 'Emptied' }] };
      case 'Break':
        throw new TypeError('a fault of the domain');
    }
  },
  evolve(coins, event) {
    if (event.type === 'Emptied') return 0;
    if (coins === 5) throw new RangeError('the jar overflows');
    return coins + event.one;
  },
};
const codec = jsonCodec<CoinEvent>({ Added: { one: (value) => value === 1 }, Emptied: {} });
/** What the codec refuses. */
const JUNK = { type: 'Added', one: 2 } as unknown as CoinEvent;
const JAR = streamName('jar');

function given() {
  const store = new MemoryEventStore();
  const jars = new Aggregates(jar, { ...system(), store, codec });
  const coins = () => jars.query(JAR, (state) => state);
  const version = () => jars.query(JAR, (_, head) => head.version);
  return { store, jars, coins, version };
}

describe('The engine over another domain', () => {
  it('records all events of a command as one commit', async () => {
    const { store, jars, coins } = given();
    await jars.execute(JAR, { type: 'Add', amount: 3 });
    const read = await store.read(JAR, { version: 0, commit: '' });
    const commits = read.status === 'read' ? read.events.map(({ commit }) => commit) : [];
    expect([commits.length, new Set(commits).size]).to.deep.equal([3, 1]);
    expect(await coins()).to.equal(3);
  });

  it('records a command with more events than a call of JavaScript takes arguments', async () => {
    const counter: Decider<number, 'counted', never, number> = {
      initialState: () => 0,
      decide: (count) => ({ events: Array.from({ length: count }, () => 'counted' as const) }),
      evolve: (counted) => counted + 1,
    };
    const counters = new Aggregates(counter, {
      ...system(),
      store: new MemoryEventStore(),
      codec: { encode: () => ({ type: 'counted', data: '' }), decode: () => 'counted' },
    });
    await counters.execute(JAR, 200_000);
    expect(await counters.query(JAR, (counted) => counted)).to.equal(200_000);
  });

  it('records nothing for an accepted command without events', async () => {
    const { jars, version } = given();
    expect(await jars.execute(JAR, { type: 'Empty' })).to.deep.equal({ events: [] });
    expect(await version()).to.equal(0);
  });

  it('rejects with UnreadableHistory when the decider rejects the history', async () => {
    const { store, coins } = given();
    const six = Array.from({ length: 6 }, () => codec.encode({ type: 'Added', one: 1 }));
    await store.append(JAR, { version: 0, commit: '' }, 'a commit', six);
    const error = await coins().catch((error: unknown) => error);
    expect(error).to.be.instanceOf(UnreadableHistory).with.property('message', 'the jar overflows');
  });

  it('fails a command with the error of the decider, writes nothing, and serves the next one', async () => {
    const { jars, coins } = given();
    await jars.execute(JAR, { type: 'Add', amount: 1 });
    const error = await jars.execute(JAR, { type: 'Break' }).catch((error: unknown) => error);
    expect(error).to.be.instanceOf(TypeError).and.not.instanceOf(OutcomeUnknown);
    expect(await coins()).to.equal(1);
  });

  it('fails only the command whose event the codec cannot write, with its error, and records the others', async () => {
    const { store, coins } = given();
    const faults: unknown[] = [];
    const observer = { fault: (_: string, error: unknown) => void faults.push(error) };
    const broken = {
      ...codec,
      encode: (event: CoinEvent) => codec.encode(event.type === 'Emptied' ? JUNK : event),
    };
    const jars = new Aggregates(jar, { ...system(), store, codec: broken, observer });
    const add = () => jars.execute(JAR, { type: 'Add', amount: 1 });

    const [first, failed, second] = await Promise.allSettled([
      add(),
      jars.execute(JAR, { type: 'Empty' }),
      add(),
    ]);

    expect(failed).to.have.nested.property('reason.message', 'a member of Added could not be read again');
    expect(faults).to.deep.equal([(failed as PromiseRejectedResult).reason]);
    expect([first.status, second.status]).to.deep.equal(['fulfilled', 'fulfilled']);
    expect(await coins()).to.equal(2);
  });

  it('records a command once that is repeated after its outcome was unknown, where a repetition changes nothing', async () => {
    const { store, version } = given();
    let repliesAreLost = true;
    const losing: EventStore = {
      read: (...args) => store.read(...args),
      async append(...args) {
        const result = await store.append(...args);
        if (repliesAreLost) throw new OutcomeUnknown('the reply was lost');
        return result;
      },
    };
    const jars = new Aggregates(jar, { ...system(), store: losing, codec, timeoutMs: 50 });
    await jars.execute(JAR, { type: 'Empty' });
    await store.append(JAR, BEGINNING, 'a commit', [codec.encode({ type: 'Added', one: 1 })]);

    const error = await jars.execute(JAR, { type: 'Empty' }).catch((error: unknown) => error);
    expect(error).to.be.instanceOf(OutcomeUnknown);
    repliesAreLost = false;

    expect(await jars.execute(JAR, { type: 'Empty' })).to.deep.equal({ events: [] });
    expect(await version()).to.equal(2);
  });
});
