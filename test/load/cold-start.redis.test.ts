import { type RedisServer, describeOwnRedis } from '../support/redis';
import type { ServiceProcess } from '../support/service-process';
import { LoadGenerator } from './generator';
import { userNames, writeHistories } from './histories';
import { expectGoals, reportFigures, seconds } from './report';
import { LONG, READINESS, SEED, startService } from './service';
import type { ClientGroup, Figures } from './workload';

const USERS = LONG ? 2000 : 300;
const EVENTS = 1000;
/** In this time all users arrive. */
const ARRIVAL_MS = 1000;
/** A run that makes no progress is ended after so many times the time of the reference. */
const PATIENCE = 3;

describeOwnRedis(
  `A fresh instance, and ${USERS} users of ${EVENTS} events that all list at once`,
  (startRedis) => {
    const report = reportFigures();
    const herd = userNames('herd', USERS);
    const live = userNames('live', 20);
    const all = [...herd, ...live];
    let redis: RedisServer;
    let service: ServiceProcess | undefined;
    let generator: LoadGenerator;

    before(async function () {
      this.timeout(60_000);
      redis = await startRedis('--appendonly', 'no');
      await writeHistories(redis.admin, all, { events: EVENTS });
      generator = await LoadGenerator.start();
    });
    afterEach(async () => {
      await service?.kill();
      service = undefined;
    });
    after(() => generator.stop());

    const list = { get: ['/plants'], requests: 1 };
    const listOften = { users: live, get: ['/plants?limit=10'], everyMs: 50, arriveWithinMs: 50 };

    function play(endsAfterMs: number, ...groups: ClientGroup[]): Promise<Figures> {
      return generator.play({ url: service!.url, seed: SEED, endsAfterMs, groups });
    }

    it('serves all within twice the time of one after the other, and stays ready', async function () {
      this.timeout(LONG ? 180_000 : 90_000).slow(180_000);
      service = await startService(redis.url, all);
      const reference = await play(60_000, {
        name: 'one after the other',
        users: herd,
        clientsPerUser: 0,
        ...list,
      });
      await service.kill();

      // However fast the machine is, the herd takes longer than a request may.
      const shorter = { STORE_TIMEOUT_MS: String(Math.round(Math.max(50, reference.tookMs / 4))) };
      service = await startService(redis.url, all, LONG ? {} : shorter);
      await play(10_000, { name: 'warm up', users: live, clientsPerUser: 0, ...list });
      const quiet = await play(3000, { name: 'live, alone', ...listOften });
      const { groups } = await play(
        Math.max(10_000, PATIENCE * reference.tookMs),
        { name: 'herd', users: herd, arriveWithinMs: ARRIVAL_MS, honourRetryAfter: true, ...list },
        { name: 'live, beside the herd', ...listOften },
        READINESS,
      );
      report(
        `Cold start of ${USERS} users of ${EVENTS} events, one after the other in ${seconds(reference.tookMs)}`,
        [...Object.values(quiet.groups), ...Object.values(groups)],
      );

      const { herd: served, readiness } = groups;
      expectGoals(
        { what: 'users served', is: served!.served, atLeast: USERS },
        {
          what: 'until all were served, in ms',
          is: served!.allServedMs,
          atMost: 2 * reference.tookMs + (LONG ? 0 : ARRIVAL_MS),
        },
        { what: 'requests refused', is: served!.failures, atMost: USERS },
        { what: 'failures of users in memory', is: groups['live, beside the herd']!.failures, atMost: 0 },
        { what: 'probes that did not find it ready', is: readiness!.failures, atMost: 0 },
      );
    });
  },
);
