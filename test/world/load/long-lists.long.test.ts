import { type RedisServer, describeOwnRedis } from '../../support/redis';
import { loadFixture } from './fixture';
import { writeHistories } from './histories';
import { expectGoals, mebibytes, reportFigures } from './report';
import { residentBytes } from './service';
import type { ClientGroup } from './workload';

const PLANTS_OF_ATTACKER = 200_000;
const PLANTS_OF_VICTIM = 3000;
const LIMITS = 300;
const P99_MS = 500;
const HEAP_MIB = 512;

/** Each response to it is a different long text. */
const DIFFERENT_LISTS = Array.from(
  { length: LIMITS },
  (_, index) => `/plants?limit=${PLANTS_OF_ATTACKER - index}`,
);

describeOwnRedis(`One user with long lists of ${LIMITS} different limits, and another`, (startRedis) => {
  const report = reportFigures();
  // A generator that runs the attacker cannot measure anything else.
  const { start, play } = loadFixture({ generators: 2 });
  const users = ['attacker', 'victim'];
  // The list changes all the time, so that each text is rendered again.
  const victim: ClientGroup = {
    name: 'victim',
    users: ['victim'],
    get: ['/plants'],
    create: { nameLength: 12 },
    everyMs: 100,
  };
  let redis: RedisServer;

  before(async () => {
    redis = await startRedis('--appendonly', 'no');
    await writeHistories(redis.admin, ['attacker'], { events: PLANTS_OF_ATTACKER });
    await writeHistories(redis.admin, ['victim'], { events: PLANTS_OF_VICTIM });
  });

  for (const [how, clientsPerUser, disconnect] of [
    ['reads them', LIMITS, {}],
    ['hangs up after 20 ms', 100, { hangUpAfterMs: 20 }],
  ] as const) {
    it(`does not delay the lists of the other if it ${how}, then and afterwards, within bounded memory`, async function () {
      this.timeout(120_000);
      const service = await start(redis.url, users, { NODE_OPTIONS: `--max-old-space-size=${HEAP_MIB}` });
      const load = { name: 'load', users, get: ['/plants?limit=1'], requests: 1, honourRetryAfter: true };
      await play(service.url, 15_000, [load]);
      const attack = {
        name: `attacker ${how}`,
        users: ['attacker'],
        get: DIFFERENT_LISTS,
        clientsPerUser,
        ...disconnect,
      };
      const attacking = play(service.url, 15_000, [attack]);
      const during = (await play(service.url, 15_000, [{ ...victim, name: 'victim, meanwhile' }], 1)).groups;
      const { groups } = await attacking;
      const after = (await play(service.url, 3000, [{ ...victim, name: 'victim, afterwards' }], 1)).groups;
      const memory = service.running
        ? `resident: ${mebibytes(residentBytes(service.pid))}`
        : 'the process ended';
      report(`Long lists of ${PLANTS_OF_ATTACKER} plants, heap of ${HEAP_MIB} MiB, ${memory}`, [
        ...Object.values(groups),
        ...Object.values(during),
        ...Object.values(after),
      ]);
      expectGoals(
        { what: 'the process survives', is: Number(service.running), atLeast: 1 },
        ...[during['victim, meanwhile']!, after['victim, afterwards']!].flatMap(
          ({ name, failures, succeeded }) => [
            { what: `failures of ${name}`, is: failures, atMost: 0 },
            { what: `answers to ${name}`, is: succeeded.count, atLeast: 20 },
            { what: `p99 of ${name}, in ms`, is: succeeded.p99, atMost: P99_MS, latency: true },
          ],
        ),
      );
    });
  }
});
