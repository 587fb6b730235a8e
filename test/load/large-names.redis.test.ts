import { type RedisServer, describeOwnRedis } from '../support/redis';
import { loadFixture } from './fixture';
import { userNames, writeHistories } from './histories';
import { NEIGHBOURS, NEIGHBOURS_AND_PROBES, undisturbed } from './neighbours';
import { expectGoals, mebibytes, reportFigures } from './report';
import { LONG, residentBytes } from './service';

/** With the rest of the request's body 64 KiB, the default of BODY_LIMIT. */
const LONGEST_NAME = 65_536 - 64;
const LARGE_USERS = 6;
const PLANTS = LONG ? 2000 : 1000;
const SMALL_HEAP_MIB = 256;
const MORE_THAN_FITS = 5000;

describeOwnRedis('Histories with names of 64 KiB', (startRedis) => {
  const report = reportFigures();
  const { start, play } = loadFixture();
  const large = userNames('large', LARGE_USERS);
  const users = [...large, ...NEIGHBOURS];
  let redis: RedisServer;

  beforeEach(async () => {
    redis = await startRedis('--appendonly', 'no');
    await writeHistories(redis.admin, NEIGHBOURS, { events: 100 });
  });

  it(`are loaded, ${LARGE_USERS} of ${PLANTS} plants, while neighbours go on`, async function () {
    this.timeout(120_000).slow(60_000);
    await writeHistories(redis.admin, large, { events: PLANTS, nameLength: LONGEST_NAME });
    const { url, pid } = await start(redis.url, users);
    const loading = {
      name: 'large',
      users: large,
      get: ['/plants?limit=1'],
      requests: 1,
      honourRetryAfter: true,
    };
    const figures = await play(url, LONG ? 40_000 : 20_000, [loading, ...NEIGHBOURS_AND_PROBES]);
    const memory = `resident: ${mebibytes(residentBytes(pid))}`;
    report(`${LARGE_USERS} users of ${PLANTS} plants of 64 KiB, ${memory}`, Object.values(figures.groups));
    expectGoals(
      { what: 'users loaded', is: figures.groups['large']!.served, atLeast: LARGE_USERS },
      ...undisturbed(figures),
    );
  });

  it('that do not fit into the heap are refused with a line in the log, and neighbours go on', async function () {
    this.timeout(60_000).slow(60_000);
    const [user] = large;
    await writeHistories(redis.admin, [user!], { events: MORE_THAN_FITS, nameLength: LONGEST_NAME });
    const heap = { NODE_OPTIONS: `--max-old-space-size=${SMALL_HEAP_MIB}` };
    const service = await start(redis.url, users, heap);
    const loading = { name: 'large', users: [user!], get: ['/plants?limit=1'], everyMs: 500 };
    const figures = await play(service.url, LONG ? 20_000 : 6000, [loading, ...NEIGHBOURS_AND_PROBES]);
    const { large: refused } = figures.groups;
    const inLog = /"msg":"[^"]*(?:too large|memory|heap)/.test(service.output);
    report(
      `${MORE_THAN_FITS} plants of 64 KiB and a heap of ${SMALL_HEAP_MIB} MiB, which the process ${service.lives ? 'survives' : 'does not survive'}`,
      Object.values(figures.groups),
    );
    expectGoals(
      { what: 'the process lives', is: Number(service.lives), atLeast: 1 },
      {
        what: 'answers 503/50300 to the large user',
        is: refused!.outcomes['50300'],
        atLeast: refused!.requests,
      },
      { what: 'a line in the log says so', is: Number(inLog), atLeast: 1 },
      ...undisturbed(figures),
    );
  });
});
