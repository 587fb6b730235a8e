import { expect } from 'chai';
import { HttpClient } from '../support/client';
import { metricsOf } from '../support/metrics';
import { describeOwnRedis, startReplicated } from '../support/redis';
import { until } from '../support/until';
import { servicesPerTest } from '../support/watched-service';

describeOwnRedis('plant_store_event_store_available', (startRedis) => {
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
