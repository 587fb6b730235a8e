import { expect } from 'chai';
import { setTimeout as pause } from 'node:timers/promises';
import { feedKeys } from '../../../src/adapters/redis/stream-key';
import { system } from '../../../src/adapters/system';
import { Stream, nextCommit } from '../../../src/testing/a-stream';
import {
  BEGINNING,
  type EventStore,
  type Head,
  type ProjectedStore,
  StoreUnavailable,
  type StreamName,
  OutcomeUnknown,
  project,
  streamOf,
} from '../../../src/event-sourcing';
import { ReadModel, historyOf, note, textCodec } from '../../event-sourcing/one-projection';
import { type RedisServer, describeOwnRedis, needsLocalServers } from '../../support/redis';
import { formCluster } from '../../support/redis/form-cluster';
import { until } from '../../support/until';
import { openStore } from './open-store';

const projectInto = (store: ProjectedStore, model: ReadModel, unavailable = () => {}) =>
  project<string, string>(store, {
    ...system(),
    observer: { unavailable },
    codec: textCodec,
    checkpoint: model,
    apply: (batch) => model.transaction(batch),
  });

describeOwnRedis('A projection of a store on Redis', (startRedis) => {
  it('applies what 64 writers append, each event once, with two instances, from the first start on', async () => {
    const { url } = await startRedis('--appendonly', 'no');
    const opened = [await openStore(url), await openStore(url)] as const;
    const streams = Array.from({ length: 64 }, (_, index) => streamOf('notes', String(index)));
    const heads = new Map<StreamName, Head>();
    const append = async (name: StreamName) => {
      const stream = new Stream(opened[0].store, name);
      for (let times = 0; times < 5; times++)
        heads.set(name, await stream.add(heads.get(name) ?? BEGINNING, note(`${times}`), note('and')));
    };
    await Promise.all(streams.slice(0, 32).map(append));
    const model = new ReadModel();
    const projections = opened.map((store) => projectInto(store, model));
    await Promise.all(streams.map(append));

    for (const [stream, head] of heads) expect(await projections[0]!.waitFor(stream, head)).to.equal(true);
    for (const [stream, { version }] of heads) expect(model.of(stream)).to.have.length(version);
    expect([model.violations, projections.flatMap(({ stops }) => stops)]).to.deep.equal([[], []]);
    for (const projection of projections) await projection.close();
    for (const store of opened) await store.close();
  });
});

describeOwnRedis('A projection of a store on a Redis Cluster', (startRedis) => {
  const SLOTS = 16_384;
  const PAUSE_MS = 5;
  let nodes: readonly RedisServer[];

  /** Two primaries with half of the slots each. */
  before(async function () {
    const start = () => startRedis('--cluster-enabled', 'yes', '--appendonly', 'no');
    nodes = [await start(), await start()];
    needsLocalServers(this, nodes[0]!, 'the servers of a Cluster');
    await formCluster(nodes);
  });

  /** Moves a slot, one key after the other, as `redis-cli --cluster reshard` does. `moved` settles before its end. */
  async function reshard(
    slot: number,
    [source, target]: readonly [RedisServer, RedisServer],
    moved: () => Promise<void>,
  ): Promise<void> {
    const [from, to] = await Promise.all(
      [source, target].map(async ({ admin }) => String(await admin.call('CLUSTER', 'MYID'))),
    );
    await target.admin.call('CLUSTER', 'SETSLOT', slot, 'IMPORTING', from!);
    await source.admin.call('CLUSTER', 'SETSLOT', slot, 'MIGRATING', to!);
    for (;;) {
      const keys = (await source.admin.call('CLUSTER', 'GETKEYSINSLOT', slot, 1)) as string[];
      if (keys.length === 0) break;
      await source.admin.call('MIGRATE', target.host, target.port, '', 0, 5000, 'KEYS', ...keys);
      await pause(PAUSE_MS);
    }
    await moved();
    for (const { admin } of [target, source]) await admin.call('CLUSTER', 'SETSLOT', slot, 'NODE', to!);
  }

  /** Repeats an append until its outcome is known. */
  async function appended(store: EventStore, stream: StreamName, head: Head): Promise<Head> {
    for (const commit = nextCommit(); ;) {
      try {
        const result = await store.append(stream, head, commit, [note('one')]);
        if (result.status !== 'appended') throw new Error(result.status);
        return result.head;
      } catch (error) {
        if (!(error instanceof StoreUnavailable) && !(error instanceof OutcomeUnknown)) throw error;
        await pause(PAUSE_MS);
      }
    }
  }

  it('applies each event once while the slot of a bucket moves to another primary, and back', async () => {
    const clusterNodes = nodes.map(({ host, port }) => ({ host, port }));
    const opened = await openStore('redis://127.0.0.1', { clusterNodes });
    const { store, feed } = opened;
    const all = Array.from({ length: 2000 }, (_, index) => streamOf('notes', String(index)));
    const bucket = feed.bucketOf(all[0]!);
    const streams = all.filter((each) => feed.bucketOf(each) === bucket);
    const model = new ReadModel();
    let outages = 0;
    const projection = projectInto(opened, model, () => {
      outages++;
    });
    let isMoving = true;
    const write = async (stream: StreamName) => {
      for (let head = BEGINNING; isMoving;) {
        head = await appended(store, stream, head);
        await pause(PAUSE_MS);
      }
    };
    const written = Promise.all(streams.map(write));
    const [key] = feedKeys('plant-store', bucket);
    const slot = Number(await nodes[0]!.admin.call('CLUSTER', 'KEYSLOT', key));
    const [source, target] = (slot < SLOTS / 2 ? nodes : nodes.toReversed()) as [RedisServer, RedisServer];
    await until(() => streams.every((each) => model.of(each).length > 0));

    // Meanwhile Redis refuses scripts of which a key does not exist, such as a base.
    await reshard(slot, [source, target], () => until(() => outages > 0));
    const before = model.of(streams[0]!).length;
    await until(() => model.of(streams[0]!).length > before);
    await reshard(slot, [target, source], async () => {});
    isMoving = false;
    await written;

    for (const stream of streams) {
      const history = await historyOf(store, stream);
      expect(await projection.waitFor(stream, history.at(-1)!)).to.equal(true);
      expect(model.streams.get(stream)).to.deep.equal(history);
    }
    expect([model.violations, projection.stops]).to.deep.equal([[], []]);
    await projection.close();
    await opened.close();
  });
});
