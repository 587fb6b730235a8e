import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'chai';
import { Client } from '../../../support/client';
import { instancesPerTest } from '../../../support/instance';
import { patient } from '../../../support/patience';
import { describeOwnRedis } from '../../../support/redis';
import { storedEvents } from '../../../support/stored-events';
import {
  ANSWERED_WITHIN_MS,
  STORE_TIMEOUT_MS,
  allRefuse,
  allServeInTime,
  tally,
  underLoad,
} from './under-load';

const FREEZES = process.env.LONG ? 6 : 2;

describeOwnRedis('A frozen Redis (SIGSTOP)', (startRedis) => {
  const startInstances = instancesPerTest();

  it('under load delays no answer beyond its deadline, and serves again within 2 s of SIGCONT', async function () {
    this.timeout(120_000);
    const redis = await startRedis('--appendonly', 'yes', '--appendfsync', 'always');
    const operations = await underLoad({ redis }, async (instances) => {
      for (let freeze = 0; freeze < FREEZES; freeze++) {
        await pause(250);
        await redis.freeze();
        // Sometimes too short for the service to detect, so that calls in flight continue.
        await (freeze % 2 === 0 ? allRefuse(instances) : pause(STORE_TIMEOUT_MS / 2));
        await redis.thaw();
        await allServeInTime(instances);
      }
      await pause(100);
    });
    expect(tally(operations)).to.include.keys('200', '204');
  });

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
