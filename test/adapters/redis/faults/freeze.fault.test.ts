import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'chai';
import { storedEvents } from '../../../support/audit';
import { Client } from '../../../support/client';
import { instancesPerTest } from '../../../support/instance';
import { describeOwnRedis } from '../../../support/redis';
import {
  ANSWERED_WITHIN_MS,
  SERVES_AT_LATEST_MS,
  STORE_TIMEOUT_MS,
  tally,
  underLoad,
  untilAllServe,
} from './under-load';

const FREEZES = process.env.LONG ? 6 : 2;

describeOwnRedis('Redis frozen in its tracks (SIGSTOP)', (startRedis) => {
  const startInstances = instancesPerTest();

  it('under load keeps nobody waiting, and serves again within 2 s of being thawed', async function () {
    this.timeout(10_000 + FREEZES * 5000);
    const redis = await startRedis('--appendonly', 'yes', '--appendfsync', 'always');
    const operations = await underLoad({ redis }, async (instances) => {
      for (let freeze = 0; freeze < FREEZES; freeze++) {
        await pause(250);
        await redis.freeze();
        // Now and then shorter than the service takes to notice, so that what was under way goes on.
        await pause(STORE_TIMEOUT_MS * (freeze % 2 === 0 ? 2.5 : 0.5));
        await redis.thaw();
        expect(await untilAllServe(instances)).to.be.below(SERVES_AT_LATEST_MS);
      }
      await pause(100);
    });
    expect(tally(operations)).to.include.keys('200', '204', '50300', '50301');
  });

  it('leaves the outcome of a write under way unknown (50301), and refuses all others (50300)', async () => {
    const redis = await startRedis();
    const environment = { REDIS_URL: redis.url, STORE_TIMEOUT_MS: String(STORE_TIMEOUT_MS) };
    const [instance] = await startInstances(1, environment);
    const [alice, bob] = [new Client(instance!.url, 'alice'), new Client(instance!.url, 'bob')];
    await Promise.all([alice.create(1, 'Fern'), bob.list()]);

    await redis.freeze();
    const early = await Promise.all([alice.create(2, 'Moss'), bob.list()]);
    // Meanwhile the connection has been given up, so nothing can be sent any more.
    await pause(100);
    const late = await Promise.all([alice.create(3, 'Ghost'), alice.delete(1), bob.list()]);
    await redis.thaw();

    expect(early.map(({ error }) => error)).to.deep.equal([50301, 50300]);
    expect(late.map(({ error }) => error)).to.deep.equal([50300, 50300, 50300]);
    for (const { took } of [...early, ...late]) expect(took).to.be.below(ANSWERED_WITHIN_MS);
    await pause(100);
    // What lay in the frozen server's socket, and was sent more than once, has happened after all: once.
    expect(await storedEvents(redis.admin, 'plant-store:{alice}:events')).to.deep.equal([
      { entry: '1-0', type: 'PlantCreated', id: 1, name: 'Fern' },
      { entry: '2-0', type: 'PlantCreated', id: 2, name: 'Moss' },
    ]);
  });
});
