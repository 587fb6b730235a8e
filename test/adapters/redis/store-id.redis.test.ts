import { expect } from 'chai';
import type { RedisOptions } from '../../../src/adapters/redis';
import { BEGINNING, START, StoreUnavailable } from '../../../src/event-sourcing';
import { encoded, ferns } from '../../support/given';
import { type RedisServer, describeOwnRedis, needsLocalServers } from '../../support/redis';
import { formCluster } from '../../support/redis/form-cluster';
import { rejection } from '../../support/rejection';
import { TcpProxy } from '../../support/tcp-proxy';
import { until } from '../../support/until';
import { type Opened, openedPerTest } from './opened';

const [fern] = encoded(...ferns(1));
const ONE = '11111111-1111-4111-8111-111111111111';
const OTHER = '22222222-2222-4222-8222-222222222222';

describeOwnRedis('The id of a store', (startRedis) => {
  const open = openedPerTest();
  let redis: RedisServer;
  beforeEach(async () => (redis = await startRedis()));

  const KEY = 'plant-store:id';
  const setId = (id: string, { admin } = redis) => admin.set(KEY, `buckets-64 ${id}`);
  const idOf = async ({ admin } = redis) => (await admin.get(KEY))?.replace('buckets-64 ', '');
  const append = ({ stream }: Opened, user?: string) => stream(user).append(BEGINNING, 'c', [fern!]);
  const refusal = async (options: Partial<RedisOptions>) =>
    ((await rejection(open({ url: redis.url, ...options }))) as Error).message;
  const withReplica = async () => {
    const replica = await startRedis('--replicaof', ...redis.peer);
    await until(async () => (await redis.admin.info('replication')).includes('state=online'));
    return replica;
  };

  for (const [what, call] of Object.entries<(opened: Opened) => unknown>({
    'a read': ({ stream }) => stream('bob').read(BEGINNING),
    'an append': (opened) => append(opened, 'bob'),
    'the list of streams': ({ index }) => index.changed(39, START, 1),
    'an erasure': ({ index, stream }) => index.erase(stream().name),
    'a load of a snapshot': ({ snapshots, stream }) => snapshots.load(stream().name),
    'a load of a checkpoint': ({ checkpoints }) => checkpoints('tags').load(['39']),
  }))
    it(`refuses an emptied Redis with ${what} as its first call, and writes nothing`, async () => {
      await setId(ONE);
      const opened = await open({ url: redis.url, examineEveryMs: 600_000 });
      expect((await append(opened)).status).to.equal('appended');
      await redis.admin.flushall();
      const refused = async () => rejection(Promise.resolve(call(opened)));
      expect(await refused()).to.be.instanceOf(StoreUnavailable);
      await until(() => opened.status().findings.another_store);
      for (const failure of [await refused(), await rejection(append(opened, 'carol'))])
        expect(failure).to.be.instanceOf(StoreUnavailable);
      expect(await redis.admin.dbsize()).to.equal(0);
      const errors = opened.log.filter((line) => line.startsWith('error'));
      expect(errors).to.have.length(1);
      expect(errors[0]).to.include('this store has no id').and.to.include(`the one with the id ${ONE}`);
      // A new instance uses it.
      expect((await append(await open({ url: redis.url }))).status).to.equal('appended');
    });

  it('refuses another store at the same address until the first one is back', async () => {
    const other = await startRedis();
    await setId(ONE);
    await setId(OTHER, other);
    const proxy = await TcpProxy.to(redis);
    const opened = await open({ url: `redis://127.0.0.1:${proxy.port}` });
    await append(opened);
    proxy.leadTo(other);
    await until(() => opened.status().findings.another_store);
    expect(await rejection(append(opened, 'bob'))).to.be.instanceOf(StoreUnavailable);
    expect(opened.log.join()).to.include(
      `has the id ${OTHER}, but this instance uses the one with the id ${ONE}`,
    );
    expect(await other.admin.dbsize()).to.equal(1);
    proxy.leadTo(redis);
    await until(() => opened.status().writes);
    expect(await opened.stream().history()).to.have.length(1);
    await proxy.close();
  });

  it('is created once by instances that start at a time, and one of them says that the store is new', async () => {
    const all = await Promise.all([1, 2, 3, 4, 5].map(() => open({ url: redis.url })));
    const id = await idOf();
    expect(id).to.match(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
    for (const { log, status } of all) {
      expect(status().id).to.equal(id);
      expect(log).to.include(`info the store has the id ${id}`);
    }
    const warnings = all.flatMap(({ log }) => log.filter((line) => line.startsWith('warn')));
    expect(warnings.filter((line) => line.includes('this is a new, empty store'))).to.have.length(1);
  });

  it('is added to a database with keys, which it counts, and stays the same', async () => {
    await redis.admin.mset('one', 1, 'two', 2);
    const first = await open({ url: redis.url });
    expect(first.log.join()).to.match(/this store had no id, and gets the id .* its database has 2 keys/);
    const second = await open({ url: redis.url });
    expect(second.status().id).to.equal(first.status().id);
    expect(second.log.join()).not.to.include('gets the id');
  });

  it('is not created by a command, nor where REDIS_STORE_ID names one', async () => {
    const opened = await open({ url: redis.url, createsId: false });
    expect(await refusal({ storeId: ONE })).to.include(
      `has no id, as if it was new or emptied, but REDIS_STORE_ID is ${ONE}`,
    );
    expect([opened.status().id, await redis.admin.dbsize()]).to.deep.equal([undefined, 0]);
    await setId(ONE);
    expect((await open({ url: redis.url, storeId: ONE })).status().writes).to.equal(true);
    expect(await refusal({ storeId: OTHER })).to.include(`has the id ${ONE}, but REDIS_STORE_ID is ${OTHER}`);
  });

  for (const value of ['something else', `buckets-32 ${ONE}`, ONE])
    it(`is not ${value}: another version or program uses the key`, async () => {
      await redis.admin.set(KEY, value);
      expect(await refusal({})).to.include(`the key ${KEY} has "${value}", not an id of this version`);
      expect(await redis.admin.dbsize()).to.equal(1);
    });

  it('is created later if Redis refuses writes at first; lists are served meanwhile', async () => {
    await redis.admin.config('SET', 'maxmemory', '1');
    const opened = await open({ url: redis.url, examineEveryMs: 50 });
    expect((await opened.stream().read(BEGINNING)).status).to.equal('read');
    expect(opened.status().id).to.equal(undefined);
    await redis.admin.config('SET', 'maxmemory', '0');
    await until(() => opened.status().id !== undefined);
    expect(opened.status().id).to.equal(await idOf());
  });

  it('does not count before the replicas have it', async () => {
    const replica = await withReplica();
    await replica.freeze();
    const opened = await open({ url: redis.url, waitReplicas: 1, examineEveryMs: 50, timeoutMs: 500 });
    await until(async () => (await idOf()) !== undefined);
    expect(opened.status().id).to.equal(undefined);
    await replica.thaw();
    await until(() => opened.status().id !== undefined);
    expect([await idOf(), await idOf(replica)]).to.deep.equal([opened.status().id, opened.status().id]);
  });

  it('of a Cluster is created and checked by the examination', async function () {
    const node = await startRedis('--cluster-enabled', 'yes');
    needsLocalServers(this, node, 'a Cluster');
    await formCluster([node]);
    const clusterNodes = [{ host: node.host, port: node.port }];
    const opened = await open({ url: node.url, clusterNodes, examineEveryMs: 50 });
    expect((await append(opened)).status).to.equal('appended');
    expect(opened.status().id).to.equal(await idOf(node));
    await node.admin.flushall();
    // Each connection finds it by itself.
    await until(() =>
      append(opened, 'bob').then(
        () => false,
        (error: unknown) => error instanceof StoreUnavailable,
      ),
    );
    expect(opened.status().findings.another_store).to.equal(true);
  });
});
