import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'chai';
import { Client, SERVES_WITHIN_MS, servedInTime } from '../../../support/client';
import { instancesPerTest } from '../../../support/instance';
import { patient } from '../../../support/patience';
import { describeOwnRedis } from '../../../support/redis';
import { AT_ONCE_MS, PATIENT_MS } from './limits';

describeOwnRedis('Redis killed with -9, at appendfsync always', (startRedis) => {
  const startInstances = instancesPerTest();
  const startDurable = () => startRedis('--appendonly', 'yes', '--appendfsync', 'always');

  it('without requests fails no request', async () => {
    const redis = await startDurable();
    const [instance] = await startInstances(1, { REDIS_URL: redis.url });
    const client = new Client(instance!.url);
    await client.create(1, 'Fern');

    await redis.kill9();
    await redis.start();
    await pause(patient(SERVES_WITHIN_MS));

    expect(await client.create(1, 'Fern')).to.include({ status: 400, error: 40003 });
    expect((await client.list()).names).to.deep.equal(['Fern']);
  });

  it('before the service starts causes 50300 until it is started', async () => {
    const redis = await startDurable();
    await redis.kill9();
    const environment = { REDIS_URL: redis.url, STORE_TIMEOUT_MS: String(PATIENT_MS) };
    const [instance] = await startInstances(1, environment);
    const client = new Client(instance!.url);

    const refused = [await client.create(1, 'Ghost'), await client.delete(1), await client.list()];
    expect(refused.map(({ error }) => error)).to.deep.equal([50300, 50300, 50300]);
    // Fails at once, without waiting for a reply.
    expect(Math.max(...refused.map(({ took }) => took))).to.be.below(AT_ONCE_MS);

    await redis.start();
    await servedInTime(() => client.create(1, 'Fern'));
    expect((await client.list()).names).to.deep.equal(['Fern']);
  });
});
