import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'chai';
import { Client, untilServed } from '../../../support/client';
import { instancesPerTest } from '../../../support/instance';
import { describeOwnRedis } from '../../../support/redis';
import {
  PATIENT_MS,
  SERVES_AT_LATEST_MS,
  SERVES_WITHIN_MS,
  tally,
  underLoad,
  untilAllServe,
} from './under-load';

const KILLS = process.env.LONG ? 10 : 2;

describeOwnRedis('Redis killed with -9, at appendfsync always', (startRedis) => {
  const startInstances = instancesPerTest();
  const startDurable = () => startRedis('--appendonly', 'yes', '--appendfsync', 'always');

  it('under load loses and doubles nothing, and serves again within 2 s of being back', async function () {
    this.timeout(10_000 + KILLS * 5000);
    const redis = await startDurable();
    const operations = await underLoad({ redis }, async (instances) => {
      for (let kill = 0; kill < KILLS; kill++) {
        await pause(250);
        await redis.kill9();
        await pause(150);
        await redis.start();
        expect(await untilAllServe(instances)).to.be.below(SERVES_AT_LATEST_MS);
      }
    });
    expect(tally(operations)).to.include.keys('200', '204', '50300');
  });

  it('while nobody asks is not even noticed', async () => {
    const redis = await startDurable();
    const [instance] = await startInstances(1, { REDIS_URL: redis.url });
    const client = new Client(instance!.url);
    await client.create(1, 'Fern');

    await redis.kill9();
    await redis.start();
    await pause(SERVES_WITHIN_MS);

    expect(await client.create(1, 'Fern')).to.include({ status: 400, error: 40003 });
    expect((await client.list()).names).to.deep.equal(['Fern']);
  });

  it('and not there yet when the service starts, is told of by 50300, and served from once it is there', async () => {
    const redis = await startDurable();
    await redis.kill9();
    const environment = { REDIS_URL: redis.url, STORE_TIMEOUT_MS: String(PATIENT_MS) };
    const [instance] = await startInstances(1, environment);
    const client = new Client(instance!.url);

    const refused = [await client.create(1, 'Ghost'), await client.delete(1), await client.list()];
    expect(refused.map(({ error }) => error)).to.deep.equal([50300, 50300, 50300]);
    // Nothing is waited for where nothing can come.
    expect(Math.max(...refused.map(({ took }) => took))).to.be.below(PATIENT_MS / 4);

    await redis.start();
    expect(await untilServed(() => client.create(1, 'Fern'))).to.be.below(SERVES_AT_LATEST_MS);
    expect((await client.list()).names).to.deep.equal(['Fern']);
  });
});
