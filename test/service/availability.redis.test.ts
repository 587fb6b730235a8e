import { expect } from 'chai';
import { HttpClient } from '../support/client';
import { metricOf, metricsOf } from '../support/metrics';
import { type RedisServer, describeRedis, startReplicated } from '../support/redis';
import { plantStreamOf } from '../support/given';
import { openedPerTest } from '../adapters/redis/opened';
import { until } from '../support/until';
import { servicesPerTest } from '../support/watched-service';

describeRedis('plant_store_event_store_available', (startRedis) => {
  const start = servicesPerTest();
  const SETTINGS = ['--min-replicas-to-write', '1', '--min-replicas-max-lag', '1'];

  async function startService(...settings: string[]) {
    const [redis, replica] = await startReplicated(startRedis, ...settings);
    const { url } = await start({ REDIS_URL: redis.url });
    const alice = new HttpClient(url);
    await until(async () => (await alice.create(1, 'Fern')).status === 200);
    const available = async () => {
      const metric = await metricsOf(url);
      return ['read', 'append'].map((name) =>
        metric(`plant_store_event_store_available{operation="${name}"}`),
      );
    };
    expect(await available()).to.deep.equal([1, 1]);
    return { redis, replica, alice, available };
  }

  it('is 0 for reads while lists are refused because replicas are missing', async () => {
    const { replica, alice, available } = await startService(...SETTINGS);
    await replica.freeze();
    await until(async () => (await alice.list()).status === 503);
    await until(async () => String(await available()) === '0,0');
    await replica.thaw();
    await until(async () => String(await available()) === '1,1');
    expect(await alice.names()).to.deep.equal(['Fern']);
  });

  it('is 0 for reads while lists are refused because of a missing right', async () => {
    const { redis, alice, available } = await startService();
    await redis.admin.acl('SETUSER', 'default', '-info');
    expect((await alice.list()).status).to.equal(503);
    await until(async () => (await available())[0] === 0);
    await redis.admin.acl('SETUSER', 'default', '+info');
    await until(async () => String(await available()) === '1,1');
  });
});

describeRedis('A user whose writes Redis refuses', (startRedis) => {
  const start = servicesPerTest();
  let redis: RedisServer;

  const REFUSALS: Readonly<Record<string, () => Promise<unknown>>> = {
    'the memory of Redis is full': () => redis.admin.config('SET', 'maxmemory', '1'),
    'a right is missing': () => redis.admin.acl('SETUSER', 'default', '-xadd'),
  };
  for (const [why, refuse] of Object.entries(REFUSALS))
    it(`still gets every list if ${why}, even a list that arrives together with a write`, async () => {
      redis = await startRedis();
      const { url } = await start({ REDIS_URL: redis.url });
      const alice = new HttpClient(url);
      await alice.plants([1, 'Fern']);
      await refuse();
      for (let first = 2; first < 52; first += 10) {
        const creations = Array.from({ length: 10 }, (_, at) => alice.create(first + at, 'Moss'));
        const lists = Array.from({ length: 10 }, () => alice.list());
        for (const created of await Promise.all(creations)) expect(created.error).to.equal(50300);
        for (const list of await Promise.all(lists)) expect(list.names).to.deep.equal(['Fern']);
      }
    });
});

describeRedis('plant_store_lost_histories_total', (startRedis) => {
  const start = servicesPerTest();
  const open = openedPerTest();

  it('counts each lost history but no erasure, even if the user writes before the instance notices it', async () => {
    const redis = await startRedis('--appendonly', 'yes');
    const service = await start({ REDIS_URL: redis.url });
    const { index } = await open({ url: redis.url });
    const [alice, bob] = ['alice', 'bob'].map((user) => new HttpClient(service.url, user)) as [
      HttpClient,
      HttpClient,
    ];
    const lost = () => metricOf(service.url, 'plant_store_lost_histories_total');
    const logged = (text: string) => service.log.filter((line) => line.includes(text)).length;

    await alice.plants([1, 'Fern'], [2, 'Palm']);
    await bob.plants([1, 'Moss']);
    await index.erase(plantStreamOf('alice'));
    expect(await alice.names()).to.deep.equal([]);
    await until(() => logged('a user was erased') === 1);

    await alice.plants([1, 'Fern']);
    await index.erase(plantStreamOf('alice'));
    const other = await start({ REDIS_URL: redis.url });
    await new HttpClient(other.url).plants([3, 'Ivy']);
    expect(await alice.names()).to.deep.equal(['Ivy']);
    await until(() => logged('a user was erased') === 2);
    expect([await lost(), logged('lost history')]).to.deep.equal([0, 0]);

    // As after a failover: the last event is gone, then a whole history.
    await alice.plants([4, 'Aloe']);
    const [key] = await redis.admin.keys('*plants/alice:events');
    await redis.admin.xdel(key!, '2-0');
    expect(await alice.names()).to.deep.equal(['Ivy']);
    await redis.admin.del((await redis.admin.keys('*plants/bob:events'))[0]!);
    expect(await bob.names()).to.deep.equal([]);
    await until(async () => (await lost()) === 2);
    expect(logged('lost history')).to.equal(2);
  });
});
