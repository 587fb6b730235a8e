import { patient } from '../../support/patience';
import { type RedisServer, describeOwnRedis } from '../../support/redis';
import { loadFixture } from './fixture';
import { userNames, writeHistories } from './histories';
import { NEIGHBOURS, NEIGHBOURS_AND_PROBES, undisturbed } from './neighbours';
import { expectGoals, mebibytes, reportFigures } from './report';
import { LONG, residentBytes } from './service';
import type { Figures } from './workload';

/** Together with the rest of the body 64 KiB, the default of BODY_LIMIT. */
const LONGEST_NAME = 65_536 - 64;
const LARGE_USERS = 6;
const PLANTS = LONG ? 2000 : 1000;
const SMALL_HEAP_MIB = 256;
const MORE_THAN_FITS = 5000;

/** The default, within which neighbours get responses even on an overcommitted machine; at most what is allowed. */
const inTime = () => ({ STORE_TIMEOUT_MS: Math.min(patient(2000), 60_000).toFixed() });

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

  it(`are loaded, ${LARGE_USERS} of ${PLANTS} plants, while neighbours are served`, async function () {
    this.timeout(240_000).slow(60_000);
    await writeHistories(redis.admin, large, { events: PLANTS, nameLength: LONGEST_NAME });
    const { url, pid } = await start(redis.url, users, inTime());
    const loading = {
      name: 'large',
      users: large,
      get: ['/plants?limit=1'],
      requests: 1,
      honourRetryAfter: true,
    };
    const figures = await play(url, 100_000, [loading, ...NEIGHBOURS_AND_PROBES]);
    const memory = `resident: ${mebibytes(residentBytes(pid))}`;
    report(`${LARGE_USERS} users of ${PLANTS} plants of 64 KiB, ${memory}`, Object.values(figures.groups));
    expectGoals(
      { what: 'users loaded', is: figures.groups['large']!.served, atLeast: LARGE_USERS },
      ...undisturbed(figures),
    );
  });

  it('are refused with a log line if they do not fit into the heap, and neighbours are served', async function () {
    this.timeout(240_000).slow(60_000);
    const [user] = large;
    await writeHistories(redis.admin, [user!], { events: MORE_THAN_FITS, nameLength: LONGEST_NAME });
    const heap = { NODE_OPTIONS: `--max-old-space-size=${SMALL_HEAP_MIB}` };
    const service = await start(redis.url, users, { ...inTime(), ...heap });
    const loading = { name: 'large', users: [user!], get: ['/plants?limit=1'], everyMs: 500 };
    const inLog = () => /"msg":"[^"]*(?:too large|memory|heap)/.test(service.output);
    const played: Figures[] = [];
    // Several requests are necessary until the limit is exceeded; their number depends on the machine.
    do played.push(await play(service.url, LONG ? 20_000 : 6000, [loading, ...NEIGHBOURS_AND_PROBES]));
    while (!inLog() && played.length < 8);
    report(
      `${MORE_THAN_FITS} plants of 64 KiB and a heap of ${SMALL_HEAP_MIB} MiB, which the process ${service.running ? 'survives' : 'does not survive'}`,
      played.flatMap(({ groups }) => Object.values(groups)),
    );
    const refused = played.map(({ groups }) => groups['large']!);
    expectGoals(
      { what: 'the process survives', is: Number(service.running), atLeast: 1 },
      {
        what: 'answers to the large user other than 503/50300',
        is: Math.max(...refused.map(({ requests, outcomes }) => requests - (outcomes['50300'] ?? 0))),
        atMost: 0,
      },
      { what: 'a line in the log says so', is: Number(inLog()), atLeast: 1 },
      ...played.flatMap((figures) => undisturbed(figures)),
    );
  });
});
