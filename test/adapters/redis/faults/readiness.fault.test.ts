import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'chai';
import { HttpClient } from '../../../support/client';
import { type Instance, USERS, instancesPerTest } from '../../../support/instance';
import { metricsOf } from '../../../support/metrics';
import { patient } from '../../../support/patience';
import { describeOwnRedis } from '../../../support/redis';
import { until } from '../../../support/until';
import { ANSWERED_WITHIN_MS, STORE_TIMEOUT_MS } from './limits';

/** Shared for a second, and in doubt for as long as the store may take. */
const NOTICED_WITHIN_MS = 1000 + ANSWERED_WITHIN_MS;

describeOwnRedis('/health/ready', (startRedis) => {
  const startInstances = instancesPerTest();

  for (const [fault, begin, end, reasons] of [
    ['killed', 'kill9', 'start', /store_unreachable/],
    ['frozen', 'freeze', 'thaw', /store_(?:timeout|unreachable)/],
  ] as const) {
    it(`reports in time that Redis was ${fault}, and why it is not ready, and that it is back`, async () => {
      const redis = await startRedis('--appendonly', 'yes');
      const [instance] = await startInstances(1, {
        REDIS_URL: redis.url,
        STORE_TIMEOUT_MS: String(STORE_TIMEOUT_MS),
      });
      const probe = async () => {
        const start = performance.now();
        const answer = await fetch(`${instance!.url}/health/ready`);
        const text = await answer.text();
        expect(performance.now() - start).to.be.below(patient(ANSWERED_WITHIN_MS));
        return { status: answer.status, retryAfter: answer.headers.get('retry-after'), text };
      };
      expect(await probe()).to.include({
        status: 200,
        text: '{"status":"ready","reads":true,"writes":true}',
      });

      await redis[begin]();
      const since = performance.now();
      await until(async () => (await probe()).status === 503);
      expect(performance.now() - since).to.be.below(patient(NOTICED_WITHIN_MS));
      const unready = await probe();
      expect(unready.status).to.equal(503);
      expect(unready.retryAfter).to.match(/^[12]$/);
      expect(JSON.parse(unready.text)).to.include({ error: 50300 });
      expect(unready.text).to.match(reasons);
      expect((await fetch(`${instance!.url}/health/live`)).status).to.equal(200);

      await redis[end]();
      await until(async () => (await probe()).status === 200);
    });
  }

  /** Body of `/health/ready` and the metric, both as long as it answers 200. */
  async function whatWorks(instance: Instance) {
    const answer = await fetch(`${instance.url}/health/ready`);
    expect(answer.status).to.equal(200);
    const metric = await metricsOf(instance.url);
    return {
      body: await answer.json(),
      append: metric('plant_store_event_store_available{operation="append"}'),
      finding: (name: string) => metric(`plant_store_redis_finding{finding="${name}"}`),
    };
  }

  it('stays 200 while a required replica is missing: lists are answered, and writes are not', async () => {
    const redis = await startRedis();
    const [instance] = await startInstances(1, {
      REDIS_URL: redis.url,
      REDIS_WAIT_REPLICAS: '1',
      STORE_TIMEOUT_MS: String(STORE_TIMEOUT_MS),
    });
    const users = USERS.map((user) => new HttpClient(instance!.url, user));
    let stopped = false;
    const writers = Promise.all(
      users.map(async (user) => {
        for (let id = 1; !stopped; id++) expect(await user.create(id, 'Fern')).to.include({ status: 503 });
      }),
    );
    for (let probe = 0; probe < 20; probe++) {
      const { body } = await whatWorks(instance!);
      const reasons = ['writes_refused', 'replicas_missing'];
      expect(body).to.deep.equal({ status: 'ready', reads: true, writes: false, reasons });
      await pause(STORE_TIMEOUT_MS / 4);
    }
    stopped = true;
    await writers;
    expect((await whatWorks(instance!)).finding('replicas_missing')).to.equal(1);
    const metric = await metricsOf(instance!.url);
    expect(metric('plant_store_redis_appends')).to.be.at.least(0);
    expect(metric('plant_store_redis_appends_limit')).to.equal(10_000);
    expect(metric('plant_store_redis_append_limit_bytes')).to.equal(67_108_864);
    expect(metric('plant_store_redis_refused_appends_total')).to.equal(0);
  });

  it('stays 200 while Redis is out of memory, and reports that writes fail', async () => {
    const redis = await startRedis();
    const [instance] = await startInstances(1, { REDIS_URL: redis.url });
    const alice = new HttpClient(instance!.url);
    await alice.create(1, 'Fern');
    expect(await whatWorks(instance!)).to.deep.include({ append: 1 });

    await redis.admin.config('SET', 'maxmemory', '1');
    expect(await alice.create(2, 'Moss')).to.include({ status: 503, error: 50300 });
    await until(async () => !((await whatWorks(instance!)).body as { writes: boolean }).writes);
    const { body, append, finding } = await whatWorks(instance!);
    const reasons = ['writes_refused', 'out_of_memory'];
    expect(body).to.deep.equal({ status: 'ready', reads: true, writes: false, reasons });
    expect([append, finding('out_of_memory')]).to.deep.equal([0, 1]);
    expect((await alice.list()).names).to.deep.equal(['Fern']);
  });

  it('names the finding for which reads are refused', async () => {
    const [redis, primary] = [await startRedis(), await startRedis()];
    const [instance] = await startInstances(1, { REDIS_URL: redis.url });
    await redis.admin.replicaof('127.0.0.1', primary.port);
    const probe = async () => (await fetch(`${instance!.url}/health/ready`)).text();
    await until(async () => /: reads_refused, replica"/.test(await probe()));
  });
});
