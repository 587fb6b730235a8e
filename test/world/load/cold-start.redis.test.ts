import { type RedisServer, describeOwnRedis } from '../../support/redis';
import { loadFixture } from './fixture';
import { userNames, writeHistories } from './histories';
import { expectGoals, reportFigures, seconds } from './report';
import { LONG, READINESS } from './service';

const USERS = LONG ? 2000 : 300;
const EVENTS = 1000;
/** All users arrive within this time. */
const ARRIVAL_MS = 1000;
/** A run without progress ends after this multiple of the time of the reference. */
const PATIENCE = 3;

describeOwnRedis(
  `A fresh instance, and ${USERS} users of ${EVENTS} events that list at once`,
  (startRedis) => {
    const report = reportFigures();
    const { start, play } = loadFixture();
    const herd = userNames('herd', USERS);
    const live = userNames('live', 20);
    const all = [...herd, ...live];
    let redis: RedisServer;

    before(async () => {
      redis = await startRedis('--appendonly', 'no');
      await writeHistories(redis.admin, all, { events: EVENTS });
    });

    it('serves all of them within twice the time of one after the other, and stays ready', async function () {
      this.timeout(300_000).slow(180_000);
      const list = { get: ['/plants'], requests: 1 };
      const often = { users: live, get: ['/plants?limit=10'], everyMs: 50, arriveWithinMs: 50 };

      const first = await start(redis.url, all);
      const inTurn = { name: 'one after the other', users: herd, clientsPerUser: 0, ...list };
      const reference = await play(first.url, 60_000, [inTurn]);
      await first.kill();

      // On any machine, the herd takes longer than a request may take.
      const shorter = { STORE_TIMEOUT_MS: String(Math.max(50, Math.round(reference.tookMs / 4))) };
      const { url } = await start(redis.url, all, LONG ? {} : shorter);
      await play(url, 10_000, [{ name: 'warm up', users: live, clientsPerUser: 0, ...list }]);
      const alone = await play(url, 3000, [{ name: 'live, alone', ...often }]);
      const { groups } = await play(url, Math.max(10_000, PATIENCE * reference.tookMs), [
        { name: 'herd', users: herd, arriveWithinMs: ARRIVAL_MS, honourRetryAfter: true, ...list },
        { name: 'live, beside the herd', ...often },
        READINESS,
      ]);
      report(
        `Cold start of ${USERS} users of ${EVENTS} events, one after the other in ${seconds(reference.tookMs)}`,
        [...Object.values(alone.groups), ...Object.values(groups)],
      );

      const { herd: served, readiness } = groups;
      const withinMs = 2 * reference.tookMs + (LONG ? 0 : ARRIVAL_MS);
      expectGoals(
        { what: 'users served', is: served!.served, atLeast: USERS },
        { what: 'until all were served, in ms', is: served!.allServedMs, atMost: withinMs },
        { what: 'requests refused', is: served!.failures, atMost: USERS },
        { what: 'failures of users in memory', is: groups['live, beside the herd']!.failures, atMost: 0 },
        { what: 'probes that did not find it ready', is: readiness!.failures, atMost: 0 },
      );
    });
  },
);
