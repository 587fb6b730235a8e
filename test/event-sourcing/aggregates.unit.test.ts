/**
 * All streams of all kinds: what a caller gets, what a kind does with its events, and the memory
 * that they share.
 */
import { expect } from 'chai';
import { MemoryEventStore } from '../../src/adapters/memory';
import { mintCommit, system } from '../../src/adapters/system';
import {
  type AggregateEvent,
  Aggregates,
  type AggregatesOptions,
  SNAPSHOT_EVERY,
  OutcomeUnknown,
  type SnapshotOptions,
  StoreUnavailable,
  UnreadableHistory,
  streamOf,
  timeOf,
} from '../../src/event-sourcing';
import { ManualClock } from '../support/manual-clock';
import { MemorySnapshots } from '../support/memory-snapshots';
import { rejection } from '../support/rejection';
import { ScriptedStore, historyOf } from './scripted-store';
import { type Changed, changed, codec, counter, counterKind, countingKind } from './counter';
import { TIMEOUT_MS } from './one-aggregate';
import { Pending, settled } from './script';

function given(options: Partial<AggregatesOptions> = {}, store = new MemoryEventStore()) {
  // No request expires because the machine is slow.
  const aggregates = new Aggregates({ ...system(), store, timeoutMs: 60_000, ...options });
  const sum = (id = 'ada') => aggregates.query(counterKind, id, (state) => state);
  const add = (by: number, kind = counterKind) => aggregates.execute(kind, 'ada', by);
  return { store, aggregates, sum, add };
}

const ADA = streamOf('counters', 'ada');

/** A kind whose commands record so many events. */
const many = {
  ...counterKind,
  decider: {
    ...counter,
    decide: (count: number) => ({ events: Array<Changed>(count).fill(changed(1)) }),
  },
  sizes: { ofState: () => 0, ofCommand: () => 0 },
};

describe('The aggregates of a kind', () => {
  it('refuse an invalid category, and a second kind with the same category', async () => {
    const { aggregates, sum } = given();
    await sum();
    for (const [category, message] of [
      ['Counters', 'a category must be'],
      ['counters', 'two kinds have the category counters'],
    ] as const) {
      const error = await rejection(
        aggregates.query({ ...counterKind, category }, 'ada', (state) => state),
      );
      expect(error).to.be.instanceOf(TypeError).with.property('message').that.contains(message);
    }
  });

  it('refuse an id that is not a text, even if the aggregate with the same text is in memory', async () => {
    const { sum } = given();
    await sum('5');
    for (const id of [5, ['5']])
      expect(await rejection(sum(id as unknown as string))).to.be.instanceOf(TypeError);
  });

  it('do not accept the name of a stream as an id: that does not compile', async () => {
    const name = streamOf('others', 'a');
    // @ts-expect-error: an id, not the name of a stream
    await given().aggregates.execute(counterKind, name, 1);
    // @ts-expect-error: an id, not the name of a stream
    await given().aggregates.query(counterKind, name, (sum) => sum);
  });

  it(`save a snapshot after ${SNAPSHOT_EVERY} events by default`, async () => {
    const store = new MemorySnapshots();
    const { add } = given({ snapshots: { store } });
    for (const [count, calls] of [
      [SNAPSHOT_EVERY - 1, []],
      [1, ['load counters/ada', `save counters/ada at ${SNAPSHOT_EVERY}`]],
    ] as const) {
      await add(count, many);
      await settled();
      expect(store.calls).to.deep.equal(calls);
    }
  });

  it('fail a command as OutcomeUnknown if its event is recorded but cannot be applied', async () => {
    const { aggregates, store } = given();
    const decide = () => ({ events: [changed(-1)] });
    const broken = { ...counterKind, decider: { ...counter, decide } };
    const error = await rejection(aggregates.execute(broken, 'ada', 1));
    expect(error).to.be.instanceOf(OutcomeUnknown).with.property('cause').instanceOf(RangeError);
    expect(await historyOf(store, ADA, codec)).to.have.length(1);
  });

  it('fail a query as UnreadableHistory if `evolve` throws, whatever it throws', async () => {
    const { store, add } = given();
    await add(1);
    const evolve = () => {
      throw Object.create(null);
    };
    const broken = { ...counterKind, decider: { ...counter, evolve } };
    const error = await rejection(given({}, store).aggregates.query(broken, 'ada', (sum) => sum));
    expect(error).to.be.instanceOf(UnreadableHistory);
  });

  it('save one snapshot at a time, and the next one on a later request of its stream, even on a read', async () => {
    const store = new MemorySnapshots();
    const { aggregates } = given({ snapshots: { store, every: 10 } });
    await aggregates.execute(many, 'ada', 10);
    await aggregates.execute(many, 'bob', 10);
    await settled();
    expect(store.calls).to.deep.equal(['load counters/ada', 'save counters/ada at 10']);
    await aggregates.query(many, 'bob', (sum) => sum);
    await settled();
    expect(store.calls.slice(2)).to.deep.equal(['load counters/bob', 'save counters/bob at 10']);
  });
});

describe('An executed command', () => {
  it('resolves with its decision, the head after it, and the value of a view at that head', async () => {
    const { aggregates, add } = given();
    const first = await aggregates.execute(counterKind, 'ada', 2, (sum, { version }) => [
      sum,
      version,
    ]);
    expect([first.events?.length, first.head.version, first.value]).to.deep.equal([1, 1, [2, 1]]);
    expect(await add(-3)).to.deep.include({ rejection: 'too-low', head: first.head });
    expect(await add(0)).to.deep.include({ events: [], head: first.head });
  });

  it('resolves with the result of its own decision, although its view shows later commands of the round', async () => {
    const { aggregates } = given({ schedule: (start) => void setImmediate(start) });
    const execute = (by: number) => aggregates.execute(countingKind, 'ada', by, (sum) => sum);
    const executed = await Promise.all([1, 2, 0, -9].map(execute));
    expect(executed.map(({ result, value }) => [result, value])).to.deep.equal([
      [1, 3],
      [3, 3],
      [3, 3],
      [undefined, 3],
    ]);
  });

  it('has the same time as its events', async () => {
    const { store, add } = given();
    const before = Date.now();
    const { head } = await add(1);
    expect((await historyOf(store, ADA, codec))[0]!.time)
      .to.equal(timeOf(head.commit))
      .and.within(before, Date.now());
    for (const now of [0, 915_148_800_123, Date.parse('2286-01-01')])
      expect(timeOf(mintCommit(now)), `at ${now}`).to.equal(now);
    for (const commit of [
      'a commit',
      '123',
      '12345678901234',
      mintCommit(Date.parse('2287-01-01')),
    ])
      expect(timeOf(commit), commit).to.equal(undefined);
  });

  it('records all its events as one commit, even 200,000 of them', async () => {
    const { store, add } = given();
    await add(200_000, many);
    expect(new Set((await historyOf(store, ADA, codec)).map(({ commit }) => commit)).size).to.equal(
      1,
    );
    expect(await given({}, store).sum()).to.equal(200_000);
  });

  it('fails with the error that its decider throws, writes nothing, and does not affect the next command', async () => {
    const decide = (by: number, sum: number) =>
      by === 1 ? expect.fail('a fault of the domain') : counter.decide(by, sum);
    const kind = { ...counterKind, decider: { ...counter, decide } };
    const { store, add } = given();
    expect(await rejection(add(1, kind))).to.have.property('message', 'a fault of the domain');
    await add(2, kind);
    expect(await given({}, store).sum()).to.equal(2);
  });

  it('fails with the error of its view, although its events are recorded, and fails no other request', async () => {
    const { aggregates, sum } = given();
    const failed = aggregates.execute(counterKind, 'ada', 1, () =>
      expect.fail('a fault of the view'),
    );
    const listed = sum();
    expect(await rejection(failed)).to.have.property('message', 'a fault of the view');
    expect(await listed).to.equal(1);
  });

  it('fails alone if the codec cannot encode its event, even if the observer throws, too', async () => {
    const faults: unknown[] = [];
    const observe = (event: AggregateEvent) => {
      if (event.type === 'fault') faults.push(event.error);
      throw new Error('a fault of the observer');
    };
    const { add } = given({ observe });
    const encode = (event: Changed) => codec.encode(event.by === 2 ? changed(0.5) : event);
    const kind = { ...counterKind, codec: { ...codec, encode } };
    const [first, failed, last] = await Promise.allSettled([1, 2, 4].map((by) => add(by, kind)));
    expect(failed).to.have.nested.property(
      'reason.message',
      'the member by of Changed could not be read again: its check refuses it',
    );
    expect(faults).to.deep.equal([(failed as PromiseRejectedResult).reason]);
    expect([first!.status, last!.status]).to.deep.equal(['fulfilled', 'fulfilled']);
    expect((await add(0, kind)).head.version).to.equal(2);
  });
});

describe('A round with more events than a store has to accept at once', () => {
  function givenSmallAppends() {
    const store = new MemoryEventStore();
    const append = store.append.bind(store);
    const sizes: number[] = [];
    store.append = async (stream, expected, commit, events) => {
      sizes.push(events.length);
      if (events.length > 1024) throw new StoreUnavailable('a long append');
      return append(stream, expected, commit, events);
    };
    const { aggregates } = given({ store });
    const add = (count: number) => aggregates.execute(many, 'ada', count);
    return { aggregates, add, sizes };
  }

  it('appends them in several calls, and answers each request after its own', async () => {
    const { aggregates, add, sizes } = givenSmallAppends();
    const first = add(1);
    const others = Array.from({ length: 600 }, () => add(2));
    const sum = aggregates.query(many, 'ada', (state) => state);
    expect((await first).head.version).to.equal(1023);
    expect((await others[510]!).head.version).to.equal(1023);
    expect((await others[511]!).head.version).to.equal(1201);
    expect(await sum).to.equal(1201);
    expect(sizes).to.deep.equal([1023, 178]);
  });

  it('appends the events of a larger command in a call of their own, which alone may fail', async () => {
    const { add, sizes } = givenSmallAppends();
    const outcomes = await Promise.allSettled([1, 2, 1025, 3].map(add));
    expect(outcomes.map(({ status }) => status)).to.deep.equal([
      'fulfilled',
      'fulfilled',
      'rejected',
      'fulfilled',
    ]);
    expect(sizes).to.deep.equal([3, 1025, 3]);
  });
});

describe('The memory of aggregates', () => {
  /**
   * Room for two streams with a sum of 100, which take 10,000 bytes and 2,048 each, and not for
   * three.
   */
  const MAX_BYTES = 25_000;

  /** @param sums of each stream, by its id: the events, one to a page. */
  async function memory(
    sums: Readonly<Record<string, readonly number[]>>,
    snapshots?: SnapshotOptions,
  ) {
    const clock = new ManualClock();
    const store = new ScriptedStore(codec, 1);
    for (const [id, each] of Object.entries(sums))
      await store.record(`counters/${id}`, ...each.map(changed));
    store.held = false;
    const options = {
      store,
      clock,
      schedule: undefined,
      timeoutMs: TIMEOUT_MS,
      maxBytes: MAX_BYTES,
      snapshots,
    };
    const { aggregates, sum } = given(options);
    const query = (id: string) => new Pending(sum(id));
    /** Queries streams, each after the one before it; resolves with the outcomes. */
    const inTurn = async (...ids: string[]) => {
      const outcomes = [];
      for (const id of ids) {
        const pending = query(id);
        await clock.pass(0);
        outcomes.push(pending.outcome);
      }
      return outcomes.join(' ');
    };
    return { clock, store, aggregates, query, inTurn };
  }

  it('is bounded in bytes over all kinds: an unused aggregate is evicted, and reloaded when requested', async () => {
    const { aggregates, inTurn } = await memory({ a: [100], b: [100], c: [100] });
    expect(await inTurn('a', 'b', 'a', 'c')).to.equal('100 100 100 100');
    expect(aggregates.usage).to.include({
      streams: 2,
      bytes: 24_096,
      hits: 1,
      misses: 3,
      evictions: 1,
    });
    expect(await inTurn('a', 'b')).to.equal('100 100');
    expect(aggregates.usage).to.include({
      streams: 2,
      bytes: 24_096,
      hits: 2,
      misses: 4,
      evictions: 2,
    });
    await aggregates.query({ ...counterKind, category: 'others' }, 'a', (sum) => sum);
    expect(aggregates.usage).to.include({ streams: 2, bytes: 14_096, evictions: 3 });
  });

  it('is bounded even if all requests are refused before they load anything', async () => {
    const { aggregates } = await memory({});
    for (let id = 0; id < 100; id++)
      await aggregates
        .query(counterKind, `user-${id}`, (sum) => sum, { timeoutMs: 0 })
        .catch(() => {});
    expect(aggregates.usage.bytes).to.be.at.most(MAX_BYTES);
  });

  it('serves one of two large states that are loaded at once, but both one after the other', async () => {
    const { clock, aggregates, query, inTurn } = await memory({ a: [100, 100], b: [100, 100] });
    const both = [query('a'), query('b')];
    await clock.pass(0);
    expect(both.map(({ outcome }) => outcome).sort()).to.deep.equal(['200', 'StoreUnavailable']);
    expect(both.find(({ error }) => error)!.error).to.have.property('reason', 'loading');
    expect(await inTurn('a', 'b', 'a', 'b')).to.equal('200 200 200 200');
    expect(aggregates.usage).to.include({ streams: 1, bytes: 22_048 });
  });

  it('refuses a state that exceeds it on its own, no matter how small the excess is', async () => {
    const { inTurn, query } = await memory({ a: [229], b: [230] });
    expect(await inTurn('a')).to.equal('229');
    const tooLarge = query('b');
    await settled();
    expect(tooLarge.error).to.have.property('reason', 'state_size');
  });

  it('exceeds its bound while a snapshot is saved, because its stream is not evicted until then', async () => {
    const snapshots = new MemorySnapshots();
    let save = () => {};
    snapshots.save = () => new Promise((resolve) => (save = () => resolve(true)));
    const { aggregates, query } = await memory(
      { a: Array<number>(10).fill(4), b: [20] },
      { store: snapshots, every: 10 },
    );
    const both = ['a', 'b'].map(query);
    await settled();
    expect(both.map(({ outcome }) => outcome)).to.deep.equal(['40', '20']);
    for (let times = 0; times < 4; times++) await aggregates.execute(counterKind, 'b', 40);
    await settled();
    expect(aggregates.usage).to.include({ streams: 2, bytes: 26_096, evictions: 0 });
    save();
    await settled();
    expect(aggregates.usage).to.include({ streams: 1, bytes: 6048, evictions: 1 });
  });

  it('drops the state that was restored from a snapshot if the rest of the load fails', async () => {
    const snapshots = new MemorySnapshots();
    const { clock, store, aggregates, query } = await memory(
      { a: [50, 50] },
      { store: snapshots, every: 10 },
    );
    const [, { commit }] = (await store.history('counters/a')) as [unknown, { commit: string }];
    const snapshot = { format: 'sum-1', head: { version: 2, commit }, chunks: ['50', '50'] };
    snapshots.kept.set('counters/a', snapshot);
    let restore = () => {};
    const load = snapshots.load.bind(snapshots);
    snapshots.load = async (stream) => {
      await new Promise<void>((resolve) => (restore = resolve));
      return load(stream);
    };
    store.held = true;
    query('a');
    await store.sole.answer();
    await clock.pass(TIMEOUT_MS);
    const second = query('a');
    restore();
    await settled();
    expect(aggregates.usage).to.include({ bytes: 12_048 });
    await store.sole.fail(new StoreUnavailable('away'));
    await settled();
    expect(second.outcome).to.equal('StoreUnavailable');
    expect(aggregates.usage).to.include({ bytes: 2048 });
  });

  it('fails no request that arrives just after the load of its stream was dropped', async () => {
    for (let turns = 0; turns < 10; turns++) {
      const { clock, store, query } = await memory({ a: [1], b: [1], c: [1], d: [1], e: [1] });
      store.held = true;
      for (const id of ['a', 'b', 'c', 'd', 'e']) query(id);
      await clock.pass(TIMEOUT_MS);
      // The load of e has not begun, and is dropped when a page of another stream arrives.
      void store.calls[0]!.answer();
      for (let turn = 0; turn < turns; turn++) await Promise.resolve();
      store.held = false;
      const late = query('e');
      await settled();
      expect(late.outcome, `after ${turns} turns`).to.equal('1');
    }
  });

  it('keeps a history that is being loaded, even if no request waits for it any longer', async () => {
    const { clock, store, aggregates, query, inTurn } = await memory({
      a: [60, 60],
      b: [100],
      c: [100],
    });
    store.held = true;
    const early = query('a');
    await store.sole.answer();
    await clock.pass(TIMEOUT_MS);
    expect(early.outcome).to.equal('StoreUnavailable');
    const secondPage = store.sole;
    store.held = false;
    await inTurn('b', 'c');
    expect(aggregates.usage).to.include({ streams: 2, evictions: 1 });
    await secondPage.answer();
    store.requests.length = 0;
    expect(await inTurn('a')).to.equal('120');
    expect(store.requests.map(({ after }) => after.version)).to.deep.equal([2]);
  });
});
