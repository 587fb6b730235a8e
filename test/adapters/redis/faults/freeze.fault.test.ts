import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'chai';
import { Client } from '../../../support/client';
import { instancesPerTest } from '../../../support/instance';
import { patient } from '../../../support/patience';
import { describeOwnRedis } from '../../../support/redis';
import { storedEvents } from '../../../support/stored-events';
import { ANSWERED_WITHIN_MS, STORE_TIMEOUT_MS } from './limits';

describeOwnRedis('A frozen Redis (SIGSTOP)', (startRedis) => {
  const startInstances = instancesPerTest();

  it('makes the outcome of a write in flight unknown (50301), and all others unavailable (50300)', async () => {
    const redis = await startRedis();
    const environment = { REDIS_URL: redis.url, STORE_TIMEOUT_MS: String(STORE_TIMEOUT_MS) };
    const [instance] = await startInstances(1, environment);
    const [alice, bob] = [new Client(instance!.url, 'alice'), new Client(instance!.url, 'bob')];
    await Promise.all([alice.create(1, 'Fern'), bob.list()]);

    await redis.freeze();
    const early = await Promise.all([alice.create(2, 'Moss'), bob.list()]);
    // The connection has been closed meanwhile, so nothing more can be sent.
    await pause(100);
    const late = await Promise.all([alice.create(3, 'Ghost'), alice.delete(1), bob.list()]);
    await redis.thaw();

    expect(early.map(({ error }) => error)).to.deep.equal([50301, 50300]);
    expect(late.map(({ error }) => error)).to.deep.equal([50300, 50300, 50300]);
    for (const { took } of [...early, ...late]) expect(took).to.be.below(patient(ANSWERED_WITHIN_MS));
    await pause(100);
    // The append in the frozen server's socket, which was sent several times, was recorded once.
    expect(await storedEvents(redis.admin, 'plant-store:{alice}:events')).to.deep.equal([
      { entry: '1-0', type: 'PlantCreated', id: 1, name: 'Fern' },
      { entry: '2-0', type: 'PlantCreated', id: 2, name: 'Moss' },
    ]);
  });
});
