import { type RedisServer, describeOwnRedis } from '../support/redis';
import { loadFixture } from './fixture';
import { userNames, writeHistories } from './histories';
import { expectGoals, mebibytes, reportFigures } from './report';
import { READINESS, residentBytes } from './service';
import type { ClientGroup, Figures } from './workload';

/** With the rest of the request's body 64 KiB, the default of BODY_LIMIT. */
const LONGEST_NAME = 65_536 - 64;
const LARGE_USERS = 6;
const PLANTS = 2000;
/** `--max-old-space-size`, in MiB. */
const SMALL_HEAP = 256;
/** More than fit into the small heap. */
const MANY_CREATES = 5000;
/** As many as may wait for a round of one user. */
const CREATES_AT_ONCE = 1000;
const SOON_MS = 1000;

describeOwnRedis('Names of 64 KiB', (startRedis) => {
  const report = reportFigures();
  const { start, play } = loadFixture();
  const large = userNames('large', LARGE_USERS);
  const neighbours = userNames('neighbour', 3);
  const users = [...large, ...neighbours];
  const smallHeap = { NODE_OPTIONS: `--max-old-space-size=${SMALL_HEAP}` };
  let redis: RedisServer;

  beforeEach(async () => {
    redis = await startRedis('--appendonly', 'no');
    await writeHistories(redis.admin, neighbours, { events: 100 });
  });

  const besides: readonly ClientGroup[] = [
    { name: 'neighbours', users: neighbours, get: ['/plants'], create: { nameLength: 12 }, everyMs: 100 },
    READINESS,
  ];
  /** Neighbours and probes get answers of success only, and neighbours soon. */
  const undisturbed = (groups: Figures['groups'], when = '') => [
    { what: `failures of neighbours${when}`, is: groups['neighbours']!.failures, atMost: 0 },
    { what: `failures of readiness${when}`, is: groups['readiness']!.failures, atMost: 0 },
    { what: `p99 of neighbours${when}, in ms`, is: groups['neighbours']!.succeeded.p99, atMost: SOON_MS },
  ];

  it(`loads ${LARGE_USERS} users of ${PLANTS} plants, and neighbours go on`, async function () {
    this.timeout(120_000);
    await writeHistories(redis.admin, large, { events: PLANTS, nameLength: LONGEST_NAME });
    const { url, pid } = await start(redis.url, users);
    const { groups } = await play(url, 40_000, [
      { name: 'large', users: large, get: ['/plants?limit=1'], requests: 1, honourRetryAfter: true },
      ...besides,
    ]);
    const memory = `resident: ${mebibytes(residentBytes(pid))}`;
    report(`${LARGE_USERS} users of ${PLANTS} plants with names of 64 KiB, ${memory}`, Object.values(groups));
    expectGoals(
      { what: 'users loaded', is: groups['large']!.served, atLeast: LARGE_USERS },
      ...undisturbed(groups),
    );
  });

  it('with a small heap, refuses a user that is too large, before and after a restart', async function () {
    this.timeout(120_000);
    const [user] = large;
    const creates = {
      name: 'large',
      users: [user!],
      clientsPerUser: 8,
      create: { nameLength: LONGEST_NAME },
    };
    const first = await start(redis.url, users, smallHeap);
    const before = await play(first.url, 40_000, [
      { ...creates, requests: MANY_CREATES / creates.clientsPerUser, honourRetryAfter: true },
      ...besides,
    ]);
    const survived = first.lives;
    const memory = survived ? `resident: ${mebibytes(residentBytes(first.pid))}` : 'the process ended';
    await first.kill();

    const second = await start(redis.url, users, smallHeap);
    const after = await play(second.url, 10_000, [
      { name: 'large', users: [user!], get: ['/plants?limit=1'], everyMs: 100, honourRetryAfter: true },
      ...besides,
    ]);
    report(`Heap of ${SMALL_HEAP} MiB, creates of 64 KiB, ${memory}`, Object.values(before.groups));
    report(`After a restart, which ${second.lives ? 'goes on' : 'ended'}`, Object.values(after.groups));
    expectGoals(
      { what: 'the process lives', is: Number(survived), atLeast: 1 },
      { what: 'the process lives after a restart', is: Number(second.lives), atLeast: 1 },
      {
        what: 'creates refused, as the user is too large',
        is: before.groups['large']!.outcomes['50300'],
        atLeast: 1,
      },
      ...undisturbed(before.groups),
      ...undisturbed(after.groups, ' after a restart'),
    );
  });

  for (const [size, bodyLimit, creates] of [
    ['64 KiB', 65_536, CREATES_AT_ONCE],
    ['1 MiB, which is more than Redis takes in one command', 2 ** 20, 600],
  ] as const) {
    it(`takes ${creates} creates of ${size}, at once, and leaves no outcome unknown`, async function () {
      this.timeout(120_000);
      const durable = await startRedis('--appendonly', 'yes', '--appendfsync', 'always');
      const [user] = large;
      const service = await start(durable.url, users, { BODY_LIMIT: String(bodyLimit) });
      const { groups } = await play(service.url, 40_000, [
        {
          name: 'large',
          users: [user!],
          clientsPerUser: creates,
          create: { nameLength: bodyLimit - 64 },
          requests: 1,
          honourRetryAfter: true,
        },
        ...besides,
      ]);
      report(`${creates} creates of ${size}, at once`, Object.values(groups));
      const { succeeded, outcomes } = groups['large']!;
      expectGoals(
        { what: 'the process lives', is: Number(service.lives), atLeast: 1 },
        { what: 'created', is: succeeded.count, atLeast: creates },
        { what: 'unknown outcomes', is: outcomes['50301'] ?? 0, atMost: 0 },
        ...undisturbed(groups),
      );
    });
  }
});
