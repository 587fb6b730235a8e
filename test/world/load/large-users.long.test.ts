import { type RedisServer, describeOwnRedis } from '../../support/redis';
import { loadFixture } from './fixture';
import { userNames, writeHistories } from './histories';
import { expectGoals, mebibytes, reportFigures, seconds } from './report';
import { READINESS, REPLAYED, residentBytes } from './service';

const PLANTS = 600_000;
/** Required share of successful requests after a user was loaded once. */
const MOST = 0.95;

describeOwnRedis(`Two users of ${PLANTS} plants, with the default configuration`, (startRedis) => {
  const report = reportFigures();
  const { start, play } = loadFixture();
  const users = userNames('large', 2);
  let redis: RedisServer;

  before(async () => {
    redis = await startRedis('--appendonly', 'no');
    await writeHistories(redis.admin, users, { events: PLANTS });
  });

  it('are both served within twice the time of one after the other, and afterwards', async function () {
    this.timeout(120_000);
    const page = { users, get: ['/plants?limit=100'], honourRetryAfter: true };
    const first = await start(redis.url, users, REPLAYED);
    const reference = await play(first.url, 40_000, [
      { ...page, name: 'one after the other', clientsPerUser: 0, requests: 1 },
    ]);
    await first.kill();

    const { url, pid } = await start(redis.url, users, REPLAYED);
    const withinMs = Math.max(10_000, 2 * reference.tookMs);
    const loading = await play(url, withinMs, [{ ...page, name: 'both at once', requests: 1 }, READINESS]);
    const { groups } = await play(url, 15_000, [
      { ...page, name: 'from then on', everyMs: 1000, arriveWithinMs: 1000 },
    ]);
    const memory = mebibytes(residentBytes(pid));
    report(
      `Two users of ${PLANTS} plants, one after the other in ${seconds(reference.tookMs)}, resident: ${memory}`,
      [...Object.values(reference.groups), ...Object.values(loading.groups), ...Object.values(groups)],
    );
    const { requests, succeeded } = groups['from then on']!;
    expectGoals(
      { what: 'users served', is: loading.groups['both at once']!.served, atLeast: users.length },
      { what: 'probes that did not find it ready', is: loading.groups['readiness']!.failures, atMost: 0 },
      { what: 'share of successes from then on', is: succeeded.count / requests, atLeast: MOST },
    );
  });
});
