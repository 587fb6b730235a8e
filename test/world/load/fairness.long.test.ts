import { type RedisServer, describeOwnRedis } from '../../support/redis';
import { loadFixture } from './fixture';
import { writeHistories } from './histories';
import { expectGoals, reportFigures } from './report';
import type { ClientGroup, GroupFigures } from './workload';

const CONNECTIONS = 256;
/** MAX_USER_REQUESTS. */
const ALLOWED = 16;
const MEASURED_MS = 5000;
const FACTOR = 3;

/** The requests of the flood, and whether it waits as Retry-After says. */
const FLOODS: readonly (Omit<ClientGroup, 'name' | 'users'> & { readonly of: string })[] = [
  { of: 'lists', get: ['/plants?limit=100'] },
  { of: 'lists, honouring Retry-After', get: ['/plants?limit=100'], honourRetryAfter: true },
  { of: 'creates', create: { nameLength: 12 } },
];

describeOwnRedis(`One user with ${CONNECTIONS} connections, and another`, (startRedis) => {
  const report = reportFigures();
  // A generator that runs the flood cannot measure anything else.
  const { start, play } = loadFixture({ generators: 2 });
  const users = ['flooding', 'measured'];
  let redis: RedisServer;

  before(async () => {
    redis = await startRedis('--appendonly', 'no');
    await writeHistories(redis.admin, users, { events: 100 });
  });

  it(`the other's p99 stays within ${FACTOR} times its p99 alone`, async function () {
    this.timeout(90_000);
    const { url } = await start(redis.url, users, {
      LOG_LEVEL: 'fatal',
      MAX_USER_REQUESTS: String(ALLOWED),
    });
    const measure = async (name: string) => {
      const measured: ClientGroup = {
        name,
        users: ['measured'],
        clientsPerUser: 4,
        get: ['/plants?limit=100'],
        create: { nameLength: 12 },
        everyMs: 20,
      };
      return (await play(url, MEASURED_MS, [measured], 1)).groups[name]!;
    };
    await measure('warm up');
    const rows: GroupFigures[] = [];
    const goals = [];
    for (const { of, ...how } of FLOODS) {
      const name = `flood of ${of}`;
      const alone = await measure(`alone, before the ${name}`);
      const flood = { ...how, name, users: ['flooding'], clientsPerUser: CONNECTIONS };
      const flooding = play(url, MEASURED_MS + 1000, [flood]);
      const beside = await measure(`beside the ${name}`);
      rows.push(alone, beside, (await flooding).groups[name]!);
      goals.push(
        { what: `failures beside the ${name}`, is: beside.failures, atMost: 0 },
        {
          what: `p99 beside the ${name}, in ms`,
          is: beside.succeeded.p99,
          atMost: FACTOR * alone.succeeded.p99,
          latency: true,
        },
      );
    }
    report(`${CONNECTIONS} connections of one user, with MAX_USER_REQUESTS=${ALLOWED}`, rows);
    expectGoals(...goals);
  });
});
