import { type RedisServer, describeOwnRedis } from '../../support/redis';
import { loadFixture } from './fixture';
import { writeHistories } from './histories';
import { type Goal, expectGoals, reportFigures } from './report';
import type { ClientGroup, GroupFigures } from './workload';

const CONNECTIONS = 1500;
const FLOOD_MS = 5000;
const FIRST_ANSWER_MS = 500;
const STORE_TIMEOUT_MS = 2000;
/** How late a response may be that the service sends at its deadline. */
const LATE_MS = 250;

type Flood = Omit<ClientGroup, 'name'>;

const FLOODS: Readonly<Record<string, Flood>> = {
  'GET without a valid token': { users: ['stranger'], get: ['/plants'] },
  'GET of an unknown path': { users: ['flooding'], get: ['/unknown'] },
  'GET of /health/live': { users: ['flooding'], get: ['/health/live'] },
  'GET of lists': { users: ['flooding'], get: ['/plants?limit=10'] },
  'POST of plants': { users: ['flooding'], create: { nameLength: 12 } },
};

describeOwnRedis(`A flood from ${CONNECTIONS} connections`, (startRedis) => {
  const report = reportFigures();
  // A generator that runs the flood cannot measure anything else.
  const { start, play } = loadFixture({ generators: 2 });
  const users = ['flooding', 'newcomer'];
  let redis: RedisServer;

  before(async () => {
    redis = await startRedis('--appendonly', 'no');
    await writeHistories(redis.admin, users, { events: 10 });
  });

  it(`of any kind does not delay the first response to a new client beyond ${FIRST_ANSWER_MS} ms`, async function () {
    this.timeout(120_000);
    const rows: GroupFigures[] = [];
    const goals: Goal[] = [];
    for (const [kind, flood] of Object.entries(FLOODS)) {
      const service = await start(redis.url, users, { LOG_LEVEL: 'fatal' });
      const newcomer: ClientGroup = {
        name: `new clients beside ${kind}`,
        users: ['newcomer'],
        get: ['/plants'],
        everyMs: 100,
        connectionPerRequest: true,
      };
      await play(service.url, 5000, [{ ...newcomer, requests: 1 }], 1);
      const flooding = play(service.url, FLOOD_MS, [{ ...flood, name: kind, clientsPerUser: CONNECTIONS }]);
      const beside = (await play(service.url, FLOOD_MS, [newcomer], 1)).groups[newcomer.name]!;
      const of = (await flooding).groups[kind]!;
      await service.kill();
      rows.push(of, beside);
      goals.push(
        { what: `failures of ${beside.name}`, is: beside.failures, atMost: 0 },
        {
          what: `the slowest answer to ${beside.name}, in ms`,
          is: beside.succeeded.max,
          atMost: FIRST_ANSWER_MS,
          latency: true,
        },
        {
          what: `the slowest answer to ${kind}, in ms`,
          is: Math.max(of.succeeded.max, of.failed.max),
          atMost: STORE_TIMEOUT_MS + LATE_MS,
        },
      );
    }
    report(`Floods from ${CONNECTIONS} connections`, rows);
    expectGoals(...goals);
  });
});
