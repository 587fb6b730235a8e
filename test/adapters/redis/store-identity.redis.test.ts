import { expect } from 'chai';
import { openRedisEventStore } from '../../../src/adapters/redis';
import { BEGINNING } from '../../../src/event-sourcing';
import { HttpClient, type HttpResponse, servedInTime } from '../../support/client';
import { encoded, created, plantsOf } from '../../support/given';
import { type Instance, instancesPerTest, startInstance } from '../../support/instance';
import { type RedisServer, describeOwnRedis, needsLocalServers } from '../../support/redis';
import { formCluster } from '../../support/redis/form-cluster';
import { rejection } from '../../support/rejection';
import { TcpProxy } from '../../support/tcp-proxy';
import { until } from '../../support/until';
import { openStore } from './open-store';
import { StoreIdentity, identityFields, identityKey } from '../../../src/adapters/redis/store-identity';

const KEY = identityKey('plant-store');
const ONE = '11111111-1111-4111-8111-111111111111';
const OTHER = '22222222-2222-4222-8222-222222222222';
const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}/;
const UNAVAILABLE = { status: 503, error: 50300 };

const problemOf = ({ status, error }: HttpResponse) => ({ status, error });
const linesAt = (level: number, { log }: Pick<Instance, 'log'>) =>
  log.filter((line) => line.level === level).map(({ msg }) => msg);
const warnings = (instance: Instance) => linesAt(40, instance).filter((line) => / id /.test(line));
const setId = ({ admin }: RedisServer, id: string) => admin.xadd(KEY, '1-0', ...identityFields(id));
const idOf = async ({ admin }: RedisServer) => (await admin.xrange(KEY, '-', '+'))[0]?.[1][3];
const alice = ({ url }: Instance) => new HttpClient(url);
const bob = ({ url }: Instance) => new HttpClient(url, 'bob');

async function onlineReplicas({ admin }: RedisServer): Promise<number> {
  return (await admin.info('replication')).split('state=online').length - 1;
}

async function addEvent(redis: RedisServer): Promise<void> {
  const { store, close } = await openStore(redis.url);
  await store.append(plantsOf('alice'), BEGINNING, 'a commit', encoded(created(1, 'Fern')));
  await close();
}

describeOwnRedis('An instance whose Redis', (startRedis) => {
  const startInstances = instancesPerTest();
  let redis: RedisServer;
  let instance: Instance;

  // With replicas to wait for, reads have a connection of their own.
  for (const waitReplicas of [0, 1]) {
    describe(`was emptied, with REDIS_WAIT_REPLICAS=${waitReplicas},`, () => {
      beforeEach(async () => {
        redis = await startRedis();
        // Not a new one, which counts only once the replica has it.
        await setId(redis, ONE);
        if (waitReplicas > 0) await startRedis('--replicaof', ...redis.peer);
        await until(async () => (await onlineReplicas(redis)) === waitReplicas);
        [instance] = (await startInstances(1, {
          REDIS_URL: redis.url,
          REDIS_WAIT_REPLICAS: String(waitReplicas),
        })) as [Instance];
        await servedInTime(() => alice(instance).create(1, 'Fern'));
        await redis.admin.flushall();
      });

      // Each is the first request after it, and Redis is examined only every ten seconds.
      for (const [what, send] of [
        ['a list of a user in memory', () => alice(instance).list()],
        ['a write of a user in memory', () => alice(instance).create(2, 'Moss')],
        ['a list of another user', () => bob(instance).list()],
        ['a write of another user', () => bob(instance).create(2, 'Moss')],
      ] as const)
        it(`refuses ${what}, and writes nothing`, async () => {
          expect(problemOf(await send())).to.deep.equal(UNAVAILABLE);
          await until(() => linesAt(50, instance).length > 0);
          expect(problemOf(await send())).to.deep.equal(UNAVAILABLE);
          expect(await redis.admin.dbsize()).to.equal(0);
        });

      it('is not ready, and logs once why', async () => {
        await until(async () => (await fetch(`${instance.url}/health/ready`)).status === 503);
        await until(() => linesAt(50, instance).some((line) => line.includes('must not be used')));
        const metrics = await (await fetch(`${instance.url}/metrics`)).text();
        expect(metrics).to.include('plant_store_redis_finding{finding="another_store"} 1\n');
        expect(metrics).to.include(`plant_store_event_store_info{id="${ONE}"} 1\n`);
        const reasons = linesAt(50, instance).filter((line) => line.includes('must not be used'));
        expect(reasons).to.have.lengthOf(1);
        expect(reasons[0]).to.include('has no id').and.to.include(`the one with the id ${ONE}`);
      });
    });
  }

  it('was emptied uses it as a new store once it is restarted, and says so', async () => {
    redis = await startRedis();
    [instance] = (await startInstances(1, { REDIS_URL: redis.url })) as [Instance];
    await alice(instance).create(1, 'Fern');
    const id = await idOf(redis);
    await redis.admin.flushall();

    const [restarted] = (await startInstances(1, { REDIS_URL: redis.url })) as [Instance];
    expect(await alice(restarted).list()).to.deep.include({ status: 200, names: [] });
    expect(warnings(restarted)).to.have.lengthOf(1);
    expect(warnings(restarted)[0])
      .to.include('this is a new, empty store')
      .and.to.include(await idOf(redis));
    expect(await idOf(redis))
      .to.match(UUID)
      .and.not.to.equal(id);
    expect(problemOf(await alice(instance).list())).to.deep.equal(UNAVAILABLE);
  });

  it('is another one at the same address refuses it, until the first one is back', async () => {
    redis = await startRedis();
    const other = await startRedis();
    await setId(redis, ONE);
    await setId(other, OTHER);
    const address = { host: redis.host, port: redis.port };
    const proxy = await TcpProxy.to(address);
    [instance] = (await startInstances(1, { REDIS_URL: `redis://127.0.0.1:${proxy.port}` })) as [Instance];
    await alice(instance).create(1, 'Fern');

    address.port = other.port;
    proxy.cut();
    await until(async () => {
      expect(problemOf(await bob(instance).list())).to.deep.equal(UNAVAILABLE);
      return linesAt(50, instance).length > 0;
    });
    expect(linesAt(50, instance)[0])
      .to.include(`has the id ${OTHER}`)
      .and.to.include(`the one with the id ${ONE}`);
    expect(problemOf(await alice(instance).create(2, 'Moss'))).to.deep.equal(UNAVAILABLE);
    expect(await other.admin.dbsize()).to.equal(1);

    address.port = redis.port;
    await servedInTime(() => alice(instance).list());
    expect((await alice(instance).list()).names).to.deep.equal(['Fern']);
    await proxy.close();
  });
});

describeOwnRedis('The id of a store', (startRedis) => {
  const startInstances = instancesPerTest();
  let redis: RedisServer;
  beforeEach(async () => (redis = await startRedis()));

  it('is created once by instances that start at the same time, and one of them says that the store is new', async () => {
    const instances = await startInstances(5, { REDIS_URL: redis.url });
    const id = await idOf(redis);
    for (const instance of instances) {
      expect((await alice(instance).list()).status).to.equal(200);
      expect(linesAt(30, instance)).to.include(`the store has the id ${id}`);
    }
    expect(instances.flatMap(warnings)).to.have.lengthOf(1);
  });

  it('is that of an instance which was faster, also for one that has found none', async () => {
    const identities = [1, 2].map(() => new StoreIdentity('plant-store', undefined, () => {}));
    const surroundings = { creates: true, keys: 0, waitReplicas: 0, waitMs: 0 };
    for (const identity of identities) await identity.adopt(redis.admin, undefined, surroundings);
    const id = await idOf(redis);
    expect(identities.map(({ seen }) => seen)).to.deep.equal([id, id]);
  });

  it('is added to a store with events, and is the same after a restart', async () => {
    await addEvent(redis);
    const [first, second] = [
      ...(await startInstances(1, { REDIS_URL: redis.url })),
      ...(await startInstances(1, { REDIS_URL: redis.url })),
    ] as [Instance, Instance];
    const id = await idOf(redis);
    expect(warnings(first)).to.have.lengthOf(1);
    expect(warnings(first)[0]).to.include(`this store had no id, and gets the id ${id}`);
    expect(warnings(first)[0]).to.include('its database has 2 keys');
    expect(warnings(second)).to.deep.equal([]);
    for (const instance of [first, second]) {
      expect(linesAt(30, instance)).to.include(`the store has the id ${id}`);
      expect((await alice(instance).list()).names).to.deep.equal(['Fern']);
    }
  });

  it('is ignored by the commands on events', async () => {
    await startInstances(1, { REDIS_URL: redis.url });
    await addEvent(redis);
    const { catalogue, close } = await openStore(redis.url);
    const found = [];
    for await (const one of catalogue.streams()) found.push(one);
    await close();
    expect(found).to.deep.equal([{ stream: 'plants/alice', version: 1 }]);
  });

  it('is not created where a Redis user has no right to, and the service works without it', async () => {
    await redis.admin.call('ACL', 'SETUSER', 'plants', 'on', '>pass', '~plant-store:{*', '+@all');
    const [instance] = (await startInstances(1, {
      REDIS_URL: redis.url.replace('//', '//plants:pass@'),
    })) as [Instance];
    expect((await alice(instance).create(1, 'Fern')).status).to.equal(200);
    expect(await redis.admin.keys('*')).to.have.members([
      'plant-store:{39}:plants/alice:events',
      'plant-store:{39}:feed',
    ]);
  });

  it('is not the first entry of a stream with other fields: the store is not used', async () => {
    await redis.admin.xadd(KEY, '1-0', 'type', 'Noted', 'data', '{}', 'commit', 'c');
    const refusal = (await rejection(startInstance({ REDIS_URL: redis.url }))) as Error;
    expect(refusal.message).to.include(`the key ${KEY} has an entry that is not the id of a store`);
  });

  describe('in an instance with REDIS_STORE_ID', () => {
    const startWith = (id: string) => startInstance({ REDIS_URL: redis.url, REDIS_STORE_ID: id });

    it('is accepted if it is that one', async () => {
      await setId(redis, ONE);
      const [instance] = (await startInstances(1, {
        REDIS_URL: redis.url,
        REDIS_STORE_ID: ONE.toUpperCase(),
      })) as [Instance];
      expect((await alice(instance).create(1, 'Fern')).status).to.equal(200);
      expect(linesAt(30, instance)).to.include(`the store has the id ${ONE}`);
    });

    it('is refused at the start if it is another one, with both ids', async () => {
      await setId(redis, OTHER);
      const refusal = (await rejection(startWith(ONE))) as Error;
      expect(refusal.message).to.include(`has the id ${OTHER}, but REDIS_STORE_ID is ${ONE}`);
    });

    it('is refused at the start if there is none, and none is created', async () => {
      const refusal = (await rejection(startWith(ONE))) as Error;
      expect(refusal.message).to.include(
        `has no id, as if it was new or emptied, but REDIS_STORE_ID is ${ONE}`,
      );
      expect(await redis.admin.dbsize()).to.equal(0);
    });
  });

  describe('of a store whose Redis', () => {
    const open = (url: string, options: object = {}) => {
      const log: string[] = [];
      const report = (level: string, message: string) => void log.push(`${level} ${message}`);
      const store = openRedisEventStore({ url, examineEveryMs: 50, report, ...options });
      return store.then((opened) => ({ ...opened, log }));
    };

    it('refuses writes at first is created later; lists are served meanwhile', async () => {
      await redis.admin.config('SET', 'maxmemory', '1');
      const { store, status, close } = await open(redis.url);
      expect((await store.read(plantsOf('alice'), BEGINNING)).status).to.equal('read');
      expect(status().id).to.equal(undefined);
      await redis.admin.config('SET', 'maxmemory', '0');
      await until(() => status().id !== undefined);
      expect(status().id).to.equal(await idOf(redis));
      close();
    });

    it('has a frozen replica to wait for does not count before the replica has it', async () => {
      const replica = await startRedis('--replicaof', ...redis.peer);
      await until(async () => (await onlineReplicas(redis)) === 1);
      await replica.freeze();
      const { status, log, close } = await open(redis.url, { waitReplicas: 1 });
      await until(async () => (await idOf(redis)) !== undefined);
      expect(log.join()).to.include('this is a new, empty store');
      expect(status().id).to.equal(undefined);
      await replica.thaw();
      await until(() => status().id !== undefined);
      expect(await idOf(replica)).to.equal(status().id);
      close();
    });

    it('has a replica to wait for is created by one connection while another one reads', async () => {
      await startRedis('--replicaof', ...redis.peer);
      await until(async () => (await onlineReplicas(redis)) === 1);
      for (let time = 0; time < 20; time++) {
        await redis.admin.del(KEY);
        const { status, close } = await open(redis.url, { waitReplicas: 1 });
        const { reads, id } = status();
        close();
        expect(reads).to.equal(true);
        // It does not count yet if the replica was too slow for the first WAIT.
        expect([undefined, await idOf(redis)]).to.include(id);
      }
    });

    it('is a Cluster is created and checked by the examination', async function () {
      const node = await startRedis('--cluster-enabled', 'yes');
      needsLocalServers(this, node, 'the servers of a Cluster');
      await formCluster([node]);
      const clusterNodes = [{ host: node.host, port: node.port }];
      const { store, status, log, close } = await open(node.url, { clusterNodes });
      expect(status().id).to.match(UUID);
      expect(
        (await store.append(plantsOf('alice'), BEGINNING, 'c', encoded(created(1, 'Fern')))).status,
      ).to.equal('appended');
      await node.admin.flushall();
      await until(() => status().findings.another_store);
      await rejection(Promise.resolve().then(() => store.read(plantsOf('bob'), BEGINNING)));
      expect(log.filter((line) => line.startsWith('error'))[0]).to.include('has no id');
      close();
    });
  });
});
