import { expect } from 'chai';
import { MemoryCheckpoints, MemoryEventStore } from '../../src/adapters/memory';
import {
  type Base,
  BEGINNING,
  CheckpointConflict,
  FEED_BEGINNING,
  FeedReset,
  type ProjectionStop,
  StoreUnavailable,
  type StreamName,
  atLeastOnce,
} from '../../src/event-sourcing';
import { streamName } from '../../src/testing/a-stream';
import { ManualClock, untilIdle } from '../support/manual-clock';
import { MemorySnapshots } from '../support/memory-snapshots';
import { BucketedStore, ReadModel, projectInto } from './one-projection';
import { CountingSignal } from './one-subscription';

const A0 = streamName('a 0');
const B0 = streamName('b 4');
const C1 = streamName('c 1');

/** A running projection of a new store. */
function given(options: Parameters<typeof projectInto>[2] = {}, store = new BucketedStore()) {
  const model = new ReadModel();
  const clock = new ManualClock();
  const stops: ProjectionStop[] = [];
  const observer = { stopped: (stop: ProjectionStop) => stops.push(stop) };
  const start = (others: typeof options = {}) =>
    projectInto(store, model, { clock, observer, ...options, ...others });
  return { store, model, clock, stops, start };
}

describe('A projection', () => {
  it('applies what is recorded, and then each event as it is recorded, in the order of each stream', async () => {
    const { store, model, start } = given();
    await store.add(A0, 'one', 'two', 'three');
    await store.add(C1, 'uno');
    const projection = start();
    await untilIdle();
    expect([model.of(A0), model.of(C1)]).to.deep.equal([['one', 'two', 'three'], ['uno']]);

    await store.add(C1, 'due');
    await store.add(B0, 'eins');
    await untilIdle();
    expect([model.of(C1), model.of(B0)]).to.deep.equal([['uno', 'due'], ['eins']]);
    expect(model.violations).to.deep.equal([]);
    await projection.close();
  });

  it('continues after its checkpoint, and applies nothing again', async () => {
    const { store, model, start } = given();
    await store.add(A0, 'one');
    const first = start();
    await untilIdle();
    await first.close();
    await store.add(A0, 'two');
    const { batches } = model;
    const second = start();
    await untilIdle();
    expect([model.of(A0), model.batches]).to.deep.equal([['one', 'two'], batches + 1]);
    await second.close();
  });

  it('notices that a batch of an instance that died was applied later, although the feed has lost it', async () => {
    const reported: unknown[] = [];
    const lostTail = (tail: unknown) => void reported.push(tail);
    const { store, clock, model, start } = given({ lostTail }, new BucketedStore(1));
    await store.add(A0, 'one');
    const first = start();
    await untilIdle();
    await first.close();
    await store.add(A0, 'two');
    let applyLate = () => Promise.resolve();
    const dying = start({
      apply(batch) {
        applyLate = () => model.transaction(batch);
        return new Promise(() => {});
      },
    });
    await untilIdle();
    void dying.close();
    await store.loseCommits(0, 1);
    const second = start();
    await untilIdle();
    await applyLate();
    expect([model.of(A0), reported]).to.deep.equal([['one', 'two'], []]);
    await clock.pass(6000);
    expect([model.of(A0), reported.length]).to.deep.equal([['one'], 1]);
    await second.close();
  });

  it('reads all streams again if the feed was trimmed, and applies only what is new', async () => {
    const { store, model, start } = given({}, new BucketedStore(2, 2));
    const first = start();
    await store.add(A0, 'one');
    await untilIdle();
    await first.close();
    for (let count = 2; count <= 9; count++) await store.add(A0, String(count));
    await store.add(B0, 'other');
    const second = start();
    await untilIdle();
    expect([model.of(A0).length, model.of(B0), model.violations]).to.deep.equal([9, ['other'], []]);
    await second.close();
  });

  it('reports a lost tail whose position was trimmed, and replaces the stream that differs', async () => {
    const reported: unknown[] = [];
    const lostTail = (tail: unknown) => void reported.push(tail);
    const { store, model, start } = given({ lostTail }, new BucketedStore(1, 2));
    const first = start();
    await store.add(A0, 'one');
    await store.add(A0, 'lost');
    await untilIdle();
    await first.close();
    await store.loseCommits(0, 1);
    for (const each of ['two', 'three', 'four', 'five']) await store.add(A0, each);
    const second = start();
    await untilIdle();
    expect(reported).to.deep.equal([{ bucket: 0, shared: undefined }]);
    expect(model.of(A0)).to.deep.equal(['one', 'two', 'three', 'four', 'five']);
    await second.close();
  });

  it('applies each event once although streams grow while all of them are read for the first time', async () => {
    const { store, model, start } = given({}, new BucketedStore(1));
    const streams = Array.from({ length: 300 }, (_, index) => streamName(`stream ${index}`));
    for (const stream of streams) await store.add(stream, 'one');
    const { read } = store.store;
    let reads = 0;
    Object.assign(store.store, {
      async read(...args: Parameters<typeof read>) {
        const result = await read(...args);
        // Streams that were read before, that are being read, and that are new.
        if (++reads === 150)
          for (const stream of [...streams.slice(0, 250), C1]) await store.add(stream, 'two');
        return result;
      },
    });
    const projection = start();
    expect(await projection.caughtUp()).to.equal(true);
    await untilIdle();
    for (const [index, stream] of streams.entries())
      expect(model.of(stream)).to.deep.equal(index < 250 ? ['one', 'two'] : ['one']);
    expect([model.of(C1), model.violations]).to.deep.equal([['two'], []]);
    await projection.close();
  });

  it('notices a lost tail that brings back the trimmed entries, while it compares its streams', async () => {
    const reported: unknown[] = [];
    const lostTail = (tail: unknown) => void reported.push(tail);
    const { store, clock, model, stops, start } = given({ lostTail }, new BucketedStore(1, 2));
    const { streams, find } = store.catalogue;
    let failovers = 0;
    Object.assign(store.catalogue, {
      // After the first start has noted the end of the feed, which is then trimmed before its position is read.
      async *streams() {
        for (let count = 1; count <= 5 && failovers === 0; count++) await store.add(A0, String(count));
        yield* streams();
      },
      async find(stream: typeof A0) {
        if (failovers++ > 0) return find(stream);
        await store.loseCommits(0, 4);
        throw new StoreUnavailable('a failover');
      },
    });
    const projection = start();
    await clock.pass(5000);
    expect([model.of(A0), model.violations, stops]).to.deep.equal([['1'], [], []]);
    expect(reported).to.deep.equal([{ bucket: 0, shared: FEED_BEGINNING }]);
    await projection.close();
  });

  it('skips nothing if a failover brings back entries before its bound, while it compares its streams', async () => {
    const { store, clock, model, stops, start } = given({ lostTail: () => {} }, new BucketedStore(1, 2));
    const { streams } = store.catalogue;
    let starts = 0;
    Object.assign(store.catalogue, {
      // The position is before the entry of the second stream, and the bound is that entry. Then both are trimmed.
      async *streams() {
        if (starts++ === 0) {
          yield { stream: A0, version: (await store.add(A0, '1')).version };
          await store.add(B0, 'uno');
        } else yield* streams();
      },
    });
    let failovers = 0;
    const projection = start({
      async apply(batch) {
        await model.transaction(batch);
        if (model.batches === 2) for (let count = 2; count <= 6; count++) await store.add(A0, String(count));
        if (model.of(A0).length < 6 || failovers++ > 0) return;
        await store.loseCommits(0, 4);
        throw new StoreUnavailable('a failover');
      },
    });
    await clock.pass(5000);
    expect([model.of(A0), model.of(B0), model.violations, stops]).to.deep.equal([
      ['1', '2'],
      ['uno'],
      [],
      [],
    ]);
    expect(failovers).to.equal(1);
    await projection.close();
  });

  describe('that has applied commits ahead of its position, which are then lost,', () => {
    const reported: unknown[] = [];
    beforeEach(() => (reported.length = 0));

    /** The first start notes the end of the feed. Then these streams are recorded, and all streams are read. */
    function givenAhead(recorded: readonly StreamName[]) {
      const opened = given({ lostTail: (tail) => void reported.push(tail) }, new BucketedStore(1));
      const { store } = opened;
      const { streams } = store.catalogue;
      let starts = 0;
      Object.assign(store.catalogue, {
        async *streams() {
          if (starts++ === 0) for (const stream of recorded) await store.add(stream, 'lost');
          yield* streams();
        },
      });
      /** A failover to a replica without these streams, after which another one is recorded. */
      const failOver = async () => {
        await store.loseCommits(0, recorded.length);
        for (const text of ['uno', 'due', 'tre']) await store.add(C1, text);
      };
      return { ...opened, failOver };
    }

    it('notices it although the store is unavailable when it looks for them', async () => {
      const { store, clock, model, stops, start, failOver } = givenAhead([A0, B0]);
      const { read } = store.feed;
      let reads = 0;
      Object.assign(store.feed, {
        async read(...args: Parameters<typeof read>) {
          reads++;
          if (reads === 1) await failOver();
          if (reads === 2) throw new StoreUnavailable('a failover');
          return read(...args);
        },
      });
      const projection = start();
      await clock.pass(5000);
      expect([model.of(A0), model.of(B0), model.of(C1)]).to.deep.equal([[], [], ['uno', 'due', 'tre']]);
      expect(stops).to.deep.equal([]);
      expect(reported).to.have.length(1);
      await projection.close();
    });

    it('compares all streams although it is interrupted', async () => {
      const many = Array.from({ length: 250 }, (_, index) => streamName(`stream ${index}`));
      const { store, clock, model, start, failOver } = givenAhead(many);
      const { read } = store.feed;
      let [failedOver, interrupted] = [false, false];
      Object.assign(store.feed, {
        async read(...args: Parameters<typeof read>) {
          // The first page after the position.
          if (!failedOver && args[1][0].sequence === 0) failedOver = await failOver().then(() => true);
          return read(...args);
        },
      });
      const projection = start({
        async apply(batch) {
          await model.transaction(batch);
          if (!failedOver || interrupted) return;
          interrupted = true;
          throw new StoreUnavailable('the database is restarted');
        },
      });
      await clock.pass(5000);
      expect(many.filter((stream) => model.of(stream).length > 0)).to.deep.equal([]);
      expect([model.of(C1), interrupted]).to.deep.equal([['uno', 'due', 'tre'], true]);
      await projection.close();
    });

    it('notices it while it reads all streams', async () => {
      const many = Array.from({ length: 250 }, (_, index) => streamName(`stream ${index}`));
      const { store, clock, model, start, failOver } = givenAhead(many);
      const { end } = store.feed;
      let ends = 0;
      Object.assign(store.feed, {
        async end(...args: Parameters<typeof end>) {
          // At the start, and before each 200 streams.
          if (++ends === 3) await failOver();
          return end(...args);
        },
      });
      const projection = start();
      await clock.pass(5000);
      const applied = many.flatMap((stream) => model.of(stream));
      expect([applied, model.of(C1)]).to.deep.equal([[], ['uno', 'due', 'tre']]);
      expect(reported).to.have.length(1);
      await projection.close();
    });
  });

  it('from the end applies only what is recorded after its first start, also if the feed is trimmed later', async () => {
    const { store, model, start } = given({ from: 'end' }, new BucketedStore(2, 2));
    await store.add(A0, 'before');
    const first = start();
    await first.caughtUp();
    await store.add(A0, 'after');
    await store.add(B0, 'new');
    await untilIdle();
    await first.close();
    for (let count = 0; count < 9; count++) await store.add(A0, 'later');
    const second = start();
    await untilIdle();
    const applied = [...model.streams].map(([stream, events]) => [stream, events.map(({ event }) => event)]);
    expect(applied).to.deep.equal([
      [A0, ['after', ...Array<string>(9).fill('later')]],
      [B0, ['new']],
    ]);
    await second.close();
  });

  it('reads about 10,000 events at a time, reports what it applies, and writes nothing without a change', async () => {
    const { store, model, start } = given({}, new BucketedStore(1));
    const streams = Array.from({ length: 200 }, (_, index) => streamName(`stream ${index}`));
    for (const stream of streams) await store.add(stream, ...Array<string>(100).fill('text'));
    const sizes: number[] = [];
    let applied = 0;
    const run = async () => {
      const projection = start({
        apply: async (batch) => {
          sizes.push(batch.slices.length);
          await model.transaction(batch);
        },
        observer: { applied: (_, events) => (applied += events) },
      });
      await projection.caughtUp();
      await projection.close();
      return sizes.splice(0);
    };
    expect((await run())[0]).to.equal(100);
    expect(applied).to.equal(20_000);
    for (const stream of streams) await store.add(stream, 'one more');
    expect(await run()).to.deep.equal([200]);
    expect(await run()).to.deep.equal([]);
    expect(model.violations).to.deep.equal([]);
  });

  it('waits after each batch until the consumer wants more', async () => {
    const { store, model, start } = given({}, new BucketedStore(1));
    let goOn = () => {};
    await store.add(A0, 'one');
    const projection = start({ gather: (resume) => (goOn = resume) });
    await untilIdle();
    await store.add(A0, 'two');
    await untilIdle();
    expect(model.of(A0)).to.deep.equal(['one']);
    for (let times = 0; times < 3; times++) {
      goOn();
      await untilIdle();
    }
    expect(model.of(A0)).to.deep.equal(['one', 'two']);
    const closed = projection.close();
    goOn();
    await closed;
  });

  it('follows only the streams that it chooses', async () => {
    const { store, model, start } = given({ follows: (stream) => stream !== A0 });
    await store.add(A0, 'one');
    const projection = start();
    await store.add(B0, 'two');
    await untilIdle();
    expect([...model.streams.keys()]).to.deep.equal([B0]);
    await projection.close();
  });

  it('replaces a stream that was erased and recorded anew', async () => {
    const { store, model, start } = given();
    const projection = start();
    await store.add(A0, 'one', 'two');
    await untilIdle();
    await store.catalogue.erase(A0);
    await store.add(A0, 'new');
    await untilIdle();
    expect([model.of(A0), model.violations]).to.deep.equal([['new'], []]);
    await projection.close();
  });

  it('is unavailable with its store, and continues', async () => {
    const reasons: string[] = [];
    const { store, model, clock, start } = given();
    await store.add(A0, 'one');
    const { read } = store.store;
    const readFeed = store.feed.read;
    const away = () => Promise.reject(new StoreUnavailable('away'));
    const unavailable = ({ message }: Error) => reasons.push(message);
    const stopped = () => reasons.push('stopped');
    Object.assign(store.store, { read: away });
    const projection = start({ observer: { unavailable, stopped } });
    await clock.pass(1000);
    Object.assign(store.store, { read });
    await clock.pass(200);
    expect([model.of(A0), reasons]).to.deep.equal([['one'], ['away']]);
    Object.assign(store.feed, { read: away });
    await store.add(A0, 'two');
    await clock.pass(1000);
    Object.assign(store.feed, { read: readFeed });
    await clock.pass(200);
    expect(model.of(A0)).to.deep.equal(['one', 'two']);
    expect(reasons).to.include('away').and.not.to.include('stopped');
    await projection.close();
  });

  it('holds no timer and no notification after it was closed', async () => {
    const { store, clock, start } = given();
    const projection = start();
    await untilIdle();
    const waited = projection.waitFor(A0, { version: 1, commit: '' });
    await untilIdle();
    await projection.close();
    expect([clock.waiting, await waited]).to.deep.equal([0, false]);
    await store.add(A0, 'one');
  });

  it('needs a store with a feed and a catalogue', () => {
    expect(() => projectInto({ store: new MemoryEventStore() }, new ReadModel())).to.throw(TypeError);
  });

  it('that stores its checkpoint after a batch applies the batch again if that failed, and skips nothing', async () => {
    const checkpoints = new MemoryCheckpoints();
    const applied: string[] = [];
    const { store, clock, start } = given(
      atLeastOnce<string, string>(checkpoints, (slices) => {
        for (const { events } of slices) applied.push(...events.map(({ event }) => event));
      }),
    );
    await store.add(A0, 'one');
    const { save } = checkpoints;
    checkpoints.save = () => Promise.reject(new StoreUnavailable('away'));
    const projection = start();
    await untilIdle();
    checkpoints.save = save;
    await clock.pass(500);
    await store.add(A0, 'two');
    await untilIdle();
    expect(applied).to.deep.equal(['one', 'one', 'two']);
    await projection.close();
  });

  describe('and archived events', () => {
    const base: Base<readonly string[]> = {
      format: 'text',
      head: { version: 3, commit: 'three' },
      archive: 'seal',
      chunks: ['[3,"three",', '"a state"]'],
    };
    const decoder = {
      codec: {
        format: 'text',
        encode: (text: string) => [text],
        readers: { text: (state: string, chunk: string) => state + chunk },
      },
      initialState: () => '',
    };

    async function archived() {
      const opened = given();
      const { store } = opened;
      for (const commit of ['one', 'two', 'three', 'four'])
        await store.store.append(A0, (await store.history(A0)).at(-1) ?? BEGINNING, commit, [
          { type: 'Noted', data: commit },
        ]);
      const { read } = store.store;
      Object.assign(store.store, {
        read: async (...args: Parameters<typeof read>) =>
          args[0] === A0 && args[1].version < 3 ? { status: 'archived' } : read(...args),
      });
      Object.assign(store, { snapshots: new MemorySnapshots(undefined, new Map([[A0 as string, base]])) });
      return opened;
    }

    it('has the state of the base in their place', async () => {
      const { model, start } = await archived();
      const projection = start({ base: decoder });
      await projection.caughtUp();
      expect([model.of(A0), model.violations]).to.deep.equal([['a state', 'four'], []]);
      await projection.close();
    });

    it('stops their bucket without a decoder of the base, and names the stream', async () => {
      const { store, model, stops, start } = await archived();
      await store.add(C1, 'uno');
      const projection = start();
      await untilIdle();
      expect(stops.map(({ bucket, stream, error }) => [bucket, stream, (error as Error).name])).to.deep.equal(
        [[0, A0, 'ArchivedHistory']],
      );
      expect(model.of(C1)).to.deep.equal(['uno']);
      await projection.close();
    });
  });

  describe('whose consumer cannot apply an event', () => {
    async function stopped() {
      const opened = given({
        async apply(batch) {
          for (const { events } of batch.slices)
            if (events.some(({ event }) => poison.has(event))) throw new Error(`no ${[...poison].join()}`);
          await opened.model.transaction(batch);
        },
      });
      const poison = new Set(['poison']);
      const { store } = opened;
      await store.add(A0, 'one', 'poison', 'three');
      await store.add(B0, 'behind');
      await store.add(C1, 'uno');
      const projection = opened.start();
      await untilIdle();
      return { ...opened, poison, projection };
    }

    it('stops the bucket before it, names it, and goes on with the others', async () => {
      const { store, model, stops, projection } = await stopped();
      await store.add(C1, 'due');
      await untilIdle();
      expect([model.of(A0), model.of(C1)]).to.deep.equal([['one'], ['uno', 'due']]);
      expect(projection.stops).to.deep.equal(stops);
      const [{ error, ...stop }] = stops as [ProjectionStop];
      expect([stop, (error as Error).message]).to.deep.equal([
        { bucket: 0, stream: A0, version: 2 },
        'no poison',
      ]);
      await projection.close();
    });

    it('names the event of the stream at fault, where each stream has one', async () => {
      const { store, model, stops, start } = given({
        async apply(batch) {
          if (batch.slices.some(({ stream }) => stream === B0)) throw new Error('no b');
          await model.transaction(batch);
        },
      });
      for (const stream of [A0, B0]) await store.add(stream, 'one');
      const projection = start();
      await untilIdle();
      expect([model.of(A0), stops.map(({ stream, version }) => [stream, version])]).to.deep.equal([
        ['one'],
        [[B0, 1]],
      ]);
      await projection.close();
    });

    it('tries the same batch again if its database is unavailable, or another instance has written', async () => {
      for (const fault of [new StoreUnavailable('a failover'), new CheckpointConflict()]) {
        const sizes: number[] = [];
        const { store, clock, model, stops, start } = given({
          async apply(batch) {
            sizes.push(batch.slices.length);
            if (sizes.length === 1) throw fault;
            await model.transaction(batch);
          },
        });
        for (const stream of [A0, B0]) await store.add(stream, 'one');
        const projection = start();
        await clock.pass(200);
        expect([sizes.filter((size) => size > 0), stops]).to.deep.equal([[2, 2], []]);
        await projection.close();
      }
    });

    it('continues when it is tried again, at the latest after 30 seconds', async () => {
      for (const again of ['at once', 'in 30 s']) {
        const { model, clock, stops, poison, projection } = await stopped();
        await clock.pass(120_000);
        expect(stops).to.have.length(9);
        poison.clear();
        if (again === 'at once') projection.retry();
        else await clock.pass(30_000);
        await untilIdle();
        expect([model.of(A0), model.of(B0)]).to.deep.equal([['one', 'poison', 'three'], ['behind']]);
        expect([projection.stops, model.violations]).to.deep.equal([[], []]);
        await projection.close();
      }
    });

    it('leaves out the event that it is to skip, and no other one', async () => {
      const { model, projection } = await stopped();
      expect([projection.skip(A0, 1), projection.skip(C1, 2), projection.skip(A0, 2)]).to.deep.equal([
        false,
        false,
        true,
      ]);
      await untilIdle();
      expect([model.of(A0), model.of(B0), projection.stops]).to.deep.equal([
        ['one', 'three'],
        ['behind'],
        [],
      ]);
      await projection.close();
    });
  });

  it('stops the bucket of an event that cannot be decoded, after those before it', async () => {
    const { store, model, stops, start } = given();
    const head = await store.add(A0, 'one');
    await store.store.append(A0, head, 'odd', [{ type: 'Other', data: '' }]);
    const projection = start();
    await untilIdle();
    expect([model.of(A0), stops.map(({ stream, version }) => [stream, version])]).to.deep.equal([
      ['one'],
      [[A0, 2]],
    ]);
    await projection.close();
  });

  describe('of a bucket that has lost its last commits', () => {
    async function lost(options: Parameters<typeof given>[0] = {}) {
      const opened = given(options);
      const { store, clock, start } = opened;
      const { streams } = store.catalogue;
      let reads = 0;
      Object.assign(store.catalogue, { streams: () => (reads++, streams()) });
      const projection = start();
      await store.add(A0, 'one');
      await untilIdle();
      await store.add(A0, 'two');
      await store.add(B0, 'lost');
      await store.add(C1, 'uno');
      await untilIdle();
      await store.loseCommits(0, 2);
      await store.add(A0, 'zwei');
      await clock.pass(5000);
      // Only at the start.
      expect(reads).to.equal(1);
      return { ...opened, projection };
    }

    it('stops with an error that has the newest shared position', async () => {
      const { model, stops, projection } = await lost();
      const { error, bucket } = stops[0]!;
      expect(error).to.be.instanceOf(FeedReset);
      expect([bucket, (error as FeedReset).lost]).to.deep.equal([
        0,
        { bucket: 0, shared: { sequence: 1, commit: 'commit-1' } },
      ]);
      expect(model.of(A0)).to.deep.equal(['one', 'two']);
      await projection.close();
    });

    it('replaces the streams that differ, if the consumer accepts it', async () => {
      const reported: unknown[] = [];
      const { store, model, stops, projection } = await lost({
        lostTail: (tail) => void reported.push(tail),
      });
      expect(reported).to.deep.equal([{ bucket: 0, shared: { sequence: 1, commit: 'commit-1' } }]);
      await store.add(A0, 'three');
      await untilIdle();
      expect([model.of(A0), model.of(B0), model.of(C1)]).to.deep.equal([
        ['one', 'zwei', 'three'],
        [],
        ['uno'],
      ]);
      expect([stops, model.violations]).to.deep.equal([[], []]);
      await projection.close();
    });
  });

  describe('that a caller waits for', () => {
    it('resolves once the events up to its head are applied', async () => {
      const { store, model, start } = given();
      const projection = start();
      await untilIdle();
      const head = await store.add(A0, 'one');
      let seen: readonly string[] | undefined;
      void projection.waitFor(A0, head).then(() => (seen = model.of(A0)));
      await untilIdle();
      expect(seen).to.deep.equal(['one']);
      expect(await projection.waitFor(A0, head)).to.equal(true);
      const signal = new CountingSignal();
      const later = projection.waitFor(A0, { ...head, version: 2 }, signal);
      await untilIdle();
      signal.abort();
      expect(await later).to.equal(false);
      await projection.close();
    });

    it('resolves within 200 ms if another instance applies them', async () => {
      const { store, clock, model, start } = given();
      const one = start({ apply: () => new Promise(() => {}) });
      const other = start();
      await untilIdle();
      const head = await store.add(A0, 'one');
      const waited = one.waitFor(A0, head);
      await clock.pass(200);
      expect([await waited, model.of(A0)]).to.deep.equal([true, ['one']]);
      await other.close();
    });

    for (const commits of [1, 2])
      it(`does not take events that were lost for its own: ${commits} of the last`, async () => {
        let replace = () => {};
        const lostTail = () => new Promise<void>((resolve) => (replace = resolve));
        const { store, clock, model, start } = given({ lostTail }, new BucketedStore(1));
        const projection = start();
        for (const each of ['one', 'two', 'three']) await store.add(A0, each);
        await clock.pass(1000);
        await store.loseCommits(0, commits);
        const head = await store.add(A0, 'own');
        const seen: string[] = [];
        const noted = (by: string) => () => void seen.push(`${by}: ${model.of(A0).at(-1)}`);
        const waited = [
          projection.waitFor(A0, head).then(noted('waitFor')),
          projection.caughtUp().then(noted('caughtUp')),
        ];
        await clock.pass(1000);
        expect(seen).to.deep.equal([]);
        replace();
        await clock.pass(1000);
        await Promise.all(waited);
        expect(seen).to.have.members(['waitFor: own', 'caughtUp: own']);
        await projection.close();
      });

    it('resolves with false when the signal is aborted, and leaves no timer and no listener', async () => {
      const { clock, start } = given();
      const projection = start();
      await untilIdle();
      const before = clock.waiting;
      const signal = new CountingSignal();
      const waited = projection.waitFor(A0, { version: 1, commit: 'never' }, signal);
      await untilIdle();
      signal.abort();
      expect([await waited, signal.listeners.size, clock.waiting]).to.deep.equal([false, 0, before]);
      await projection.close();
    });
  });
});
