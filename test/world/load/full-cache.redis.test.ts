import { type RedisServer, describeOwnRedis } from '../../support/redis';
import { loadFixture } from './fixture';
import { userNames, writeHistories } from './histories';
import { expectGoals, reportFigures, seconds } from './report';
import { LONG, READINESS, REPLAYED } from './service';

/** Half of them are deletions, so that few plants remain. */
const EVENTS = LONG ? 600_000 : 100_000;
const NEIGHBOURS = 20;
const PLANTS_OF_A_NEIGHBOUR = 1000;

describeOwnRedis(`A history of ${EVENTS} events, while the cache is full of others`, (startRedis) => {
  const report = reportFigures();
  const { start, play } = loadFixture();
  const neighbours = userNames('neighbour', NEIGHBOURS);
  const users = ['long', ...neighbours];
  let redis: RedisServer;

  before(async () => {
    redis = await startRedis('--appendonly', 'no');
    await writeHistories(redis.admin, ['long'], { events: EVENTS, deletionEvery: 2 });
    await writeHistories(redis.admin, neighbours, { events: PLANTS_OF_A_NEIGHBOUR });
  });

  it('is loaded over several requests', async function () {
    this.timeout(180_000).slow(60_000);
    const list = { users: ['long'], get: ['/plants?limit=1'], requests: 1, honourRetryAfter: true };
    const first = await start(redis.url, users, { ...REPLAYED, STORE_TIMEOUT_MS: '60000' });
    const reference = await play(first.url, 60_000, [{ ...list, name: 'with room and time' }]);
    await first.kill();

    const { url } = await start(redis.url, users, {
      ...REPLAYED,
      // Half of the neighbours fit.
      CACHE_MAX_PLANTS: String((NEIGHBOURS * PLANTS_OF_A_NEIGHBOUR) / 2),
      // On any machine, the load takes longer than one request.
      STORE_TIMEOUT_MS: String(Math.max(50, Math.round(reference.tookMs / 4))),
    });
    const others = {
      name: 'neighbours',
      users: neighbours,
      get: ['/plants?limit=1'],
      everyMs: 500,
      arriveWithinMs: 500,
    };
    await play(url, 2000, [{ ...others, name: 'warm up' }]);
    const { groups } = await play(url, Math.max(15_000, 10 * reference.tookMs), [
      { ...list, name: 'long history' },
      others,
      READINESS,
    ]);
    report(
      `A history of ${EVENTS} events with the cache full, ${seconds(reference.tookMs)} with room and time`,
      [...Object.values(groups)],
    );
    expectGoals({ what: 'served', is: groups['long history']!.served, atLeast: 1 });
  });
});
