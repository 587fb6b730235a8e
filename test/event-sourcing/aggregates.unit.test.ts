/** All streams of all kinds: what a caller gets, and what a kind does with its events. */
import { expect } from 'chai';
import { MemoryEventStore } from '../../src/adapters/memory';
import { mintCommit, system } from '../../src/adapters/system';
import {
  type AggregateEvent,
  Aggregates,
  type AggregatesOptions,
  BEGINNING,
  type EncodedEvent,
  type EventStore,
  OutcomeUnknown,
  SNAPSHOT_EVERY,
  decideAll,
  replay,
  streamOf,
  timeOf,
} from '../../src/event-sourcing';
import { LoadQueue } from '../../src/event-sourcing/load-queue';
import { examplesOf, freezing } from '../../src/testing';
import { ManualClock, untilIdle } from '../support/manual-clock';
import { MemorySnapshots } from '../support/memory-snapshots';
import { rejection } from '../support/rejection';
import { type Changed, changed, codec, counter, counterKind } from './counter';
import { Script, TIMEOUT_MS } from './script';

const ADA = streamOf('counters', 'ada');

function given(options: Partial<AggregatesOptions> = {}, store: EventStore = new MemoryEventStore()) {
  const aggregates = new Aggregates({ ...system(), store, ...options });
  const sum = (id = 'ada') => aggregates.query(counterKind, id, (state) => state);
  const add = (by: number, kind = counterKind) => aggregates.execute(kind, 'ada', by);
  return { store, aggregates, sum, add };
}

async function eventsOf(store: EventStore) {
  const events = [];
  for await (const page of replay(store, ADA, codec)) events.push(...page);
  return events;
}

describe('The aggregates of a kind', () => {
  const other = { ...counterKind, category: 'others' };

  it('have a stream of their own for each id, whatever is in it', async () => {
    const { store, aggregates, sum } = given();
    const ids = ['a', 'A', 'a/b', 'a%2Fb', 'others/a', 'counters/a', '../a', ' ', '\0', 'é', 'e\u0301', '🌵'];
    for (const kind of [counterKind, other])
      for (const [index, id] of ids.entries()) await aggregates.execute(kind, id, index + 1);
    for (const [index, id] of ids.entries()) {
      expect([id, await sum(id)]).to.deep.equal([id, index + 1]);
      expect(await store.read(streamOf('counters', id), BEGINNING))
        .to.have.property('events')
        .length(1);
    }
  });

  const tooLong = '🌵'.repeat(256);
  for (const id of ['', tooLong, '\ud800', 'a\udc00b', null as never])
    it(`have no stream for ${id === tooLong ? 'an id of 256 characters' : JSON.stringify(id)}`, async () => {
      expect(await rejection(given().sum(id))).to.be.instanceOf(TypeError);
    });

  for (const category of ['', 'counters/a', 'Counters', '7', 'a'.repeat(33)])
    it(`have a category, which is not ${JSON.stringify(category)}`, async () => {
      const call = given().aggregates.query({ ...counterKind, category }, 'a', (sum) => sum);
      expect(await rejection(call)).to.be.instanceOf(TypeError);
    });

  it('share no stream with a second kind of the same category', async () => {
    const { aggregates, sum } = given();
    await sum('a');
    const call = aggregates.query({ ...counterKind }, 'a', (state) => state);
    expect(await rejection(call)).to.have.property('message', 'two kinds have the category counters');
  });

  it('cannot be called with the name of a stream: that does not compile', async () => {
    const { aggregates } = given();
    const name = streamOf('others', 'a');
    // @ts-expect-error: an id, not the name of a stream
    await aggregates.execute(counterKind, name, 1);
    // @ts-expect-error: an id, not the name of a stream
    await aggregates.query(counterKind, name, (sum) => sum);
    // @ts-expect-error: a category and an id
    expect(streamOf('counters', name)).to.equal('counters/others/a');
  });

  it(`save a snapshot after ${SNAPSHOT_EVERY} events by default`, async () => {
    const store = new MemorySnapshots();
    const { add } = given({ snapshots: { store } });
    const decide = (count: number) => ({ events: Array<Changed>(count).fill(changed(1)) });
    const kind = {
      ...counterKind,
      decider: { ...counter, decide },
      sizes: { ofState: () => 0, ofCommand: () => 0 },
    };
    for (const [count, calls] of [
      [SNAPSHOT_EVERY - 1, []],
      [1, ['load counters/ada', `save counters/ada at ${SNAPSHOT_EVERY}`]],
    ] as const) {
      await add(count, kind);
      for (let turn = 0; turn < 10; turn++) await untilIdle();
      expect(store.calls).to.deep.equal(calls);
    }
  });
});

describe('An executed command', () => {
  it('resolves with its decision, the head after it, and the value of a view there', async () => {
    const { aggregates, add } = given();
    const first = await aggregates.execute(counterKind, 'ada', 2, (sum, { version }) => [sum, version]);
    expect([first.events?.length, first.head.version, first.value]).to.deep.equal([1, 1, [2, 1]]);
    expect(await add(-3)).to.deep.include({ rejection: 'too-low', head: first.head });
    expect(await add(0)).to.deep.include({ events: [], head: first.head });
  });

  it('has a time, which is that of its events', async () => {
    const { store, add } = given();
    const before = Date.now();
    const { head } = await add(1);
    const [event] = await eventsOf(store);
    expect(event!.time).to.equal(timeOf(head.commit)).and.within(before, Date.now());
    expect([timeOf('a commit'), timeOf('123'), timeOf(mintCommit())].map(Number.isFinite)).to.deep.equal([
      false,
      false,
      true,
    ]);
  });

  it('records all its events as one commit, also more than a call of JavaScript takes arguments', async () => {
    const { store, add, sum } = given();
    const decide = (count: number) => ({ events: Array<Changed>(count).fill(changed(1)) });
    await add(200_000, { ...counterKind, decider: { ...counter, decide } });
    const commits = new Set((await eventsOf(store)).map(({ commit }) => commit));
    expect(commits.size).to.equal(1);
    expect(await sum().catch((error: unknown) => error)).to.be.instanceOf(TypeError);
    expect(await given({}, store).sum()).to.equal(200_000);
  });

  it('fails with the error of a decider that throws: nothing is written, and the next one is served', async () => {
    const decide = () => {
      throw new TypeError('a fault of the domain');
    };
    const { store, add } = given();
    const error = await rejection(add(1, { ...counterKind, decider: { ...counter, decide } }));
    expect(error).to.include({ name: 'TypeError', message: 'a fault of the domain' });
    expect(await given({}, store).sum()).to.equal(0);
  });

  it('fails with the error of its view, although its events are recorded, and no other request does', async () => {
    const { aggregates, sum } = given();
    const failed = aggregates.execute(counterKind, 'ada', 1, () => expect.fail('a fault of the view'));
    const listed = sum();
    expect(await rejection(failed)).to.have.property('message', 'a fault of the view');
    expect(await listed).to.equal(1);
  });

  it('fails alone if the codec cannot write its event, and the others of the round are recorded', async () => {
    const faults: unknown[] = [];
    const observe = (event: AggregateEvent) => event.type === 'fault' && faults.push(event.error);
    const { add } = given({ observe });
    const encode = (event: Changed) => codec.encode(event.by === 2 ? changed(0.5) : event);
    const kind = { ...counterKind, codec: { ...codec, encode } };
    const [first, failed, last] = await Promise.allSettled([1, 2, 4].map((by) => add(by, kind)));
    expect(failed).to.have.nested.property('reason.message', 'a member of Changed could not be read again');
    expect(faults).to.deep.equal([(failed as PromiseRejectedResult).reason]);
    expect([first!.status, last!.status]).to.deep.equal(['fulfilled', 'fulfilled']);
    expect((await add(0, kind)).head.version).to.equal(2);
  });

  it('changes nothing when it is repeated after an unknown outcome, where its repetition changes nothing', async () => {
    const store = new MemoryEventStore();
    let repliesAreLost = true;
    const losing: EventStore = {
      read: (...args) => store.read(...args),
      async append(...args) {
        const result = await store.append(...args);
        if (repliesAreLost) throw new OutcomeUnknown('the reply was lost');
        return result;
      },
    };
    const atMostOne = {
      ...counter,
      decide: (by: number, sum: number) => ({ events: sum > 0 ? [] : [changed(by)] }),
    };
    const { add } = given({ timeoutMs: 50 }, losing);
    const kind = { ...counterKind, decider: atMostOne };
    expect(await rejection(add(1, kind))).to.be.instanceOf(OutcomeUnknown);
    repliesAreLost = false;
    expect(await add(1, kind)).to.deep.include({ events: [] });
    expect(await eventsOf(store)).to.have.length(1);
  });
});

describe('Decisions in order', () => {
  it('are made against the events of those before, and apply nothing for a command that records none', () => {
    const states: number[] = [];
    const decide = (by: number, sum: number) => {
      states.push(sum);
      return counter.decide(by, sum);
    };
    const decisions = decideAll({ ...counter, decide }, [1, 0, -9, 2, 3], 0);
    expect(decisions.map(({ events = [] }) => events.length)).to.deep.equal([1, 0, 0, 1, 1]);
    expect(states).to.deep.equal([0, 1, 1, 1, 3]);
  });
});

describe('An aggregate', () => {
  it('does not expire a request when its timer fires early', async () => {
    const script = new Script();
    const after = script.clock.after.bind(script.clock);
    script.clock.after = (ms, action) => after(Math.max(1, ms - 1), action);
    await script.play(`q: sum; pass ${TIMEOUT_MS - 1}; q -> pending; pass 1; q -> StoreUnavailable`);
  });

  it('says when to retry a request whose history is not being loaded yet', async () => {
    const clock = new ManualClock();
    const script = new Script({ clock, loads: new LoadQueue(clock, 2 * TIMEOUT_MS, 0) });
    await script.play('q: sum');
    await clock.pass(TIMEOUT_MS);
    await script.play('error q reason retryAfterMs -> loading,1000');
  });

  it('reads the next page before the events of a page are decoded', async () => {
    const requests: number[] = [];
    const decode = (stored: EncodedEvent) => {
      requests.push(script.store.requests.length);
      return codec.decode(stored);
    };
    const script: Script = new Script({ page: 1, kind: { codec: { ...codec, decode } } });
    await script.play('others +1 +1 +1');
    await script.play('load');
    expect(requests).to.deep.equal([2, 3, 3]);
  });

  it('reports each page that it loads, and serves although its observer throws', async () => {
    const loaded: (readonly [number, number])[] = [];
    const store = new MemoryEventStore(2);
    await given({}, store).add(1);
    for (let more = 0; more < 4; more++) await given({}, store).add(1);
    const observe = (event: AggregateEvent) => {
      if (event.type === 'loaded') loaded.push([event.events, event.version]);
      throw new Error('a fault of the observer');
    };
    expect(await given({ observe }, store).sum()).to.equal(5);
    expect(loaded).to.deep.equal([
      [2, 2],
      [2, 4],
      [1, 5],
    ]);
  });
});

describe('A frozen state', () => {
  type Sums = Map<string, number>;
  const sums = {
    initialState: (): Sums => new Map(),
    decide: (by: number) => ({ events: [changed(by)] }),
    evolve: (state: Sums, { by }: { by: number }) => new Map([...state, ['sum', by]]),
  };
  const changing = { ...sums, evolve: (state: Sums, { by }: { by: number }) => state.set('sum', by) };

  it('shows a domain whose `evolve` changes its argument', () => {
    expect(() => examplesOf(sums).given(changed(1), changed(2))).not.to.throw();
    expect(() => examplesOf(changing).given(changed(1))).to.throw('a state must not be changed');
  });

  it('shows a caller who changes what a query returned', async () => {
    const kind = { category: 'sums', codec, decider: freezing(sums) };
    const { aggregates } = given();
    await aggregates.execute(kind, 'a', 1);
    const state = await aggregates.query(kind, 'a', (all) => all);
    expect(() => state.clear()).to.throw(TypeError);
  });
});
