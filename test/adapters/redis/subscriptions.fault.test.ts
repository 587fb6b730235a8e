import { getEventListeners } from 'node:events';
import { expect } from 'chai';
import { openRedisEventStore } from '../../../src/adapters/redis';
import { systemClock } from '../../../src/adapters/system';
import { plantCodec } from '../../../src/application';
import type { PlantEvent } from '../../../src/domain';
import {
  BEGINNING,
  type Clock,
  type EventStore,
  type Head,
  HistoryChanged,
  type RecordedEvent,
  StoreUnavailable,
  type StreamName,
  headOf,
  subscribe,
} from '../../../src/event-sourcing';
import { streamName } from '../../../src/testing/a-stream';
import { encoded, created, ferns } from '../../support/given';
import { type RedisServer, describeOwnRedis } from '../../support/redis';
import { formCluster } from '../../support/redis/form-cluster';
import { until } from '../../support/until';
import { warningsDuring } from '../../support/warnings';

type Opened = Awaited<ReturnType<typeof openRedisEventStore>>;

/** Time passes 20 times as fast, so that a check every five seconds is one every 250 ms. */
const FAST: Clock = { now: systemClock.now, after: (ms, action) => systemClock.after(ms / 20, action) };
/** No poll and no check: every event is found by a notification. */
const STOPPED: Clock = { now: systemClock.now, after: () => () => {} };

const ADA = streamName('ada');

describeOwnRedis('A subscription to a store on Redis', (startRedis) => {
  let redis: RedisServer;
  let opened: Opened[];
  let endings: AbortController[];

  const open = async (url = redis.url, options = {}) => {
    const store = await openRedisEventStore({ url, pageSize: 3, ...options });
    opened.push(store);
    return store;
  };

  beforeEach(async () => {
    redis = await startRedis('--appendonly', 'yes', '--appendfsync', 'always');
    opened = [];
    endings = [];
  });
  const endAll = () => {
    for (const ending of endings) ending.abort();
  };
  afterEach(() => {
    endAll();
    for (const store of opened) store.close();
  });

  /** Takes all events; `end` is set when the iteration has ended. */
  function follow(
    store: EventStore,
    stream: StreamName,
    clock: Clock,
    after: Head = BEGINNING,
    ending = new AbortController(),
  ) {
    endings.push(ending);
    const consumer = { taken: [] as RecordedEvent<PlantEvent>[], end: undefined as unknown };
    void (async () => {
      try {
        const { signal } = ending;
        for await (const event of subscribe(store, stream, after, { codec: plantCodec, clock, signal }))
          consumer.taken.push(event);
        consumer.end = 'done';
      } catch (error) {
        consumer.end = error;
      }
    })();
    return consumer;
  }

  /** Appends one event, and again with the same commit id until that is known to be recorded. */
  async function append(store: EventStore, head: Head, id: number): Promise<Head> {
    for (;;) {
      try {
        const result = await store.append(ADA, head, `commit ${id}`, encoded(created(id, 'Fern')));
        if (result.status === 'appended') return result.head;
        throw new Error(result.status);
      } catch (error) {
        if (error instanceof Error && !['StoreUnavailable', 'OutcomeUnknown'].includes(error.name))
          throw error;
        await new Promise((resolve) => setTimeout(resolve, 10));
      }
    }
  }

  /** The connections to Redis, except the one that asks. */
  async function connections(): Promise<string[]> {
    const lines = String(await redis.admin.client('LIST'))
      .trim()
      .split('\n');
    return lines.filter((line) => !line.includes('cmd=client'));
  }

  it('is notified of the events of another process, with one connection for all subscribers', async () => {
    const [{ store }, { store: other }] = [await open(), await open()];
    const streams = Array.from({ length: 20 }, (_, index) => streamName(`user ${index}`));
    const before = (await connections()).length;
    const consumers = streams.map((stream) => follow(store, stream, STOPPED));
    const versions = () => consumers.map(({ taken }) => taken.map(({ version }) => version));

    await until(async () => (await connections()).length > before);
    for (let version = 0; version < 3; version++) {
      for (const [index, stream] of streams.entries()) {
        const head = consumers[index]!.taken.at(-1) ?? BEGINNING;
        await other.append(stream, headOf(head), `commit ${version}`, encoded(created(version, 'Fern')));
      }
      await until(() => versions().every(({ length }) => length === version + 1));
    }
    expect((await connections()).length).to.equal(before + 1);

    endAll();
    await until(async () => (await connections()).length === before);
    expect(consumers.map(({ end }) => end)).to.deep.equal(streams.map(() => 'done'));
  });

  it('causes no warning beside 49 others on the same store, with one signal for all', async () => {
    const warnings = await warningsDuring(async () => {
      const { store } = await open();
      const ending = new AbortController();
      const streams = Array.from({ length: 50 }, (_, index) => streamName(`user ${index}`));
      const consumers = streams.map((stream) => follow(store, stream, STOPPED, BEGINNING, ending));
      for (const stream of streams) await store.append(stream, BEGINNING, 'a commit', encoded(...ferns(1)));
      await until(() => consumers.every(({ taken }) => taken.length === 1));
      ending.abort();
      await until(() => consumers.every(({ end }) => end === 'done'));
      expect(getEventListeners(ending.signal, 'abort')).to.be.empty;
    });
    expect(warnings).to.deep.equal([]);
  });

  it('is notified of an event that was recorded before it waited', async () => {
    const { store } = await open();
    let changes = 0;
    await store.append(ADA, BEGINNING, 'a commit', encoded(...ferns(1)));
    store.notify!(ADA, BEGINNING, () => changes++);
    await until(() => changes === 1);
  });

  it('has each event exactly once and in order while its connections are killed', async () => {
    const [{ store }, { store: other }] = [await open(), await open()];
    const consumer = follow(store, ADA, FAST);
    let head = BEGINNING;
    for (let id = 1; id <= 60; id++) {
      if (id % 6 === 0) await redis.admin.call('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes');
      head = await append(other, head, id);
    }
    await until(() => consumer.taken.length >= 60);
    expect(consumer.taken.map(({ event }) => Number(event.id))).to.deep.equal(
      Array.from({ length: 60 }, (_, index) => index + 1),
    );
  });

  it('has each event exactly once and in order across a restart of Redis', async () => {
    const [{ store }, { store: other }] = [await open(), await open()];
    const consumer = follow(store, ADA, FAST);
    let head = BEGINNING;
    for (let id = 1; id <= 10; id++) {
      if (id === 5) {
        await redis.kill9();
        await redis.start();
      }
      head = await append(other, head, id);
    }
    await until(() => consumer.taken.length >= 10);
    expect(consumer.taken.map(({ version }) => version)).to.deep.equal([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
    expect(consumer.end).to.equal(undefined);
  });

  it('fails with HistoryChanged after its stream was erased, also if it has new events', async () => {
    const { store, catalogue } = await open();
    await store.append(ADA, BEGINNING, 'a commit', encoded(...ferns(2)));
    const consumers = [follow(store, ADA, FAST), follow(store, ADA, FAST)];
    await until(() => consumers.every(({ taken }) => taken.length === 2));
    await catalogue.erase(ADA);
    await store.append(ADA, BEGINNING, 'another commit', encoded(...ferns(1)));
    await until(() => consumers.every(({ end }) => end !== undefined));
    for (const { end, taken } of consumers) {
      expect(end).to.be.instanceOf(HistoryChanged).with.deep.property('head', headOf(taken[1]!));
    }
  });

  it('reads while notifications are impossible: without a connection, and after the store was closed', async () => {
    const { store, close } = await open();
    await store.append(ADA, BEGINNING, 'a commit', encoded(...ferns(1)));
    let changes = 0;
    const notified = async () => {
      const earlier = changes;
      store.notify!(ADA, { version: 1, commit: 'a commit' }, () => changes++);
      await until(() => changes === earlier + 1);
    };
    await redis.kill9();
    await notified();
    close();
    await notified();
    expect(await store.read(ADA, BEGINNING).catch((error: unknown) => error)).to.be.instanceOf(
      StoreUnavailable,
    );
  });

  it('polls if the Redis user has no right for XREAD, which is tried once', async () => {
    await redis.admin.acl('SETUSER', 'service', 'on', '>secret', '~*', '+@all', '-xread');
    const { store } = await open(redis.url.replace('://', '://service:secret@'));
    const consumer = follow(store, ADA, STOPPED);
    for (let version = 1; version <= 3; version++) {
      const head = consumer.taken.at(-1) ?? BEGINNING;
      await store.append(ADA, headOf(head), `commit ${version}`, encoded(...ferns(1)));
      await until(() => consumer.taken.length === version);
    }
    const denied = (await redis.admin.acl('LOG')) as unknown[][];
    expect(
      denied.map((entry) => [entry[entry.indexOf('object') + 1], entry[entry.indexOf('count') + 1]]),
    ).to.deep.equal([['xread', 1]]);
  });

  it('polls on a Cluster', async () => {
    const node = await startRedis('--cluster-enabled', 'yes');
    await formCluster([node]);
    const { store } = await open(node.url, { clusterNodes: [{ host: node.host, port: node.port }] });
    expect(store.notify).to.equal(undefined);
    const consumer = follow(store, ADA, FAST);
    await until(() =>
      store.append(ADA, BEGINNING, 'a commit', encoded(...ferns(1))).then(
        () => true,
        () => false,
      ),
    );
    await until(() => consumer.taken.length === 1);
  });
});
