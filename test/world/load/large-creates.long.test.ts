import { describeOwnRedis } from '../../support/redis';
import { loadFixture } from './fixture';
import { NEIGHBOURS, NEIGHBOURS_AND_PROBES, undisturbed } from './neighbours';
import { expectGoals, mebibytes, reportFigures } from './report';
import { residentBytes } from './service';

const KIB = 1024;
const SMALL_HEAP_MIB = 256;
/** More than fit into the small heap. */
const MANY = 5000;
/** The size of a body without the name. */
const REST_OF_BODY = 64;

describeOwnRedis('Creates with names of 64 KiB and more', (startRedis) => {
  const report = reportFigures();
  const { start, play } = loadFixture();
  const users = ['large', ...NEIGHBOURS];

  it('are refused before the heap is full, and neighbours are served, before and after a restart', async function () {
    this.timeout(120_000);
    const redis = await startRedis('--appendonly', 'no');
    const heap = { NODE_OPTIONS: `--max-old-space-size=${SMALL_HEAP_MIB}` };
    const first = await start(redis.url, users, heap);
    const creates = {
      users: ['large'],
      create: { nameLength: 64 * KIB - REST_OF_BODY },
      honourRetryAfter: true,
    };
    const before = await play(first.url, 20_000, [
      { ...creates, name: 'large', clientsPerUser: 8, requests: MANY / 8 },
      ...NEIGHBOURS_AND_PROBES,
    ]);
    const survived = first.running;
    const memory = survived ? `resident: ${mebibytes(residentBytes(first.pid))}` : 'the process ended';
    await first.kill();

    const second = await start(redis.url, users, heap);
    const list = {
      name: 'large',
      users: ['large'],
      get: ['/plants?limit=1'],
      everyMs: 100,
      honourRetryAfter: true,
    };
    const after = await play(second.url, 8000, [list, ...NEIGHBOURS_AND_PROBES]);
    report(`Creates of 64 KiB, a heap of ${SMALL_HEAP_MIB} MiB, ${memory}`, Object.values(before.groups));
    report(
      `After a restart, in which the process ${second.running ? 'survives' : 'ended'}`,
      Object.values(after.groups),
    );
    expectGoals(
      { what: 'the process survives', is: Number(survived), atLeast: 1 },
      { what: 'the process survives a restart', is: Number(second.running), atLeast: 1 },
      { what: 'creates refused', is: before.groups['large']!.outcomes['50300'], atLeast: 1 },
      ...undisturbed(before),
      ...undisturbed(after, ' after a restart'),
    );
  });

  for (const [count, size, bodyLimit, created, inTime] of [
    [1000, '64 KiB', 64 * KIB, 1000, true],
    // The total may exceed the limit of waiting commands and the memory limit of a user; and reading the bodies takes longer
    // than a request may wait.
    [600, '1 MiB, more than Redis takes in one command', KIB * KIB, 1, false],
  ] as const) {
    it(`are accepted or refused, ${count} of ${size} at once, and the process survives`, async function () {
      this.timeout(120_000);
      const redis = await startRedis('--appendonly', 'yes', '--appendfsync', 'always');
      const service = await start(redis.url, users, { BODY_LIMIT: String(bodyLimit) });
      const creates = {
        users: ['large'],
        create: { nameLength: bodyLimit - REST_OF_BODY },
        honourRetryAfter: true,
      };
      const figures = await play(service.url, 30_000, [
        { ...creates, name: 'large', clientsPerUser: count, requests: 1 },
        ...NEIGHBOURS_AND_PROBES,
      ]);
      report(`${count} creates of ${size}, at once`, Object.values(figures.groups));
      const { succeeded, outcomes } = figures.groups['large']!;
      expectGoals(
        { what: 'the process survives', is: Number(service.running), atLeast: 1 },
        { what: 'created', is: succeeded.count, atLeast: created },
        ...(inTime
          ? [{ what: 'unknown outcomes', is: outcomes['50301'] ?? 0, atMost: 0 }, ...undisturbed(figures)]
          : []),
      );
    });
  }
});
