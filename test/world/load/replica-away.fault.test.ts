import { setTimeout as pause } from 'node:timers/promises';
import { patient } from '../../support/patience';
import { type RedisServer, describeOwnRedis } from '../../support/redis';
import { until } from '../../support/until';
import { loadFixture } from './fixture';
import { userNames } from './histories';
import { expectGoals, mebibytes, reportFigures } from './report';
import { LONG, READINESS, residentBytes } from './service';

const WRITERS = 500;
const NAME_LENGTH = 2000;
const AWAY_MS = LONG ? 20_000 : 6000;
const STORE_TIMEOUT_MS = 1000;
const MIB = 2 ** 20;

describeOwnRedis(`With REDIS_WAIT_REPLICAS=1 and the replica away for ${AWAY_MS / 1000} s`, (startRedis) => {
  const report = reportFigures();
  const { start, play } = loadFixture();
  const writers = userNames('writer', WRITERS);
  const readers = userNames('reader', 10);
  const users = [...writers, ...readers];
  let primary: RedisServer;
  let replica: RedisServer;

  before(async () => {
    primary = await startRedis();
    replica = await startRedis('--replicaof', ...primary.peer);
    await until(async () => (await primary.admin.info('replication')).includes('state=online'));
  });

  /** Bytes in Redis for the clients of the service: queries before execution, and replies that were not read. */
  async function clientBuffers(): Promise<number> {
    const list = (await primary.admin.client('LIST')) as string;
    const ours = list.split('\n').filter((line) => line.includes('name=plant-store'));
    const sum = (field: RegExp) =>
      ours.reduce((total, line) => total + Number(field.exec(line)?.[1] ?? 0), 0);
    return sum(/ qbuf=(\d+)/) + sum(/ omem=(\d+)/);
  }

  it('the service answers in time, and bounds its memory and that of Redis', async function () {
    this.timeout(120_000).slow(60_000);
    const service = await start(primary.url, users, {
      REDIS_WAIT_REPLICAS: '1',
      STORE_TIMEOUT_MS: String(STORE_TIMEOUT_MS),
      LOG_LEVEL: 'error',
    });
    const create = {
      users: writers,
      create: { nameLength: NAME_LENGTH },
      arriveWithinMs: 1000,
      everyMs: 250,
    };
    const list = { users: readers, get: ['/plants?limit=1'], everyMs: 100 };
    const before = await play(service.url, 3000, [{ name: 'writers, before', ...create }]);
    const memoryBefore = residentBytes(service.pid);

    await replica.freeze();
    const playing = play(service.url, AWAY_MS, [
      { name: 'writers, replica away', ...create },
      { name: 'readers, replica away', ...list },
      READINESS,
    ]);
    let buffered = 0;
    const over = new AbortController();
    const watched = (async () => {
      while (!over.signal.aborted) {
        buffered = Math.max(buffered, await clientBuffers());
        await pause(250);
      }
    })();
    const { groups } = await playing;
    over.abort();
    await watched;
    const grown = residentBytes(service.pid) - memoryBefore;

    await replica.thaw();
    const { groups: after } = await play(service.url, 10_000, [
      {
        name: 'writers, afterwards',
        users: writers,
        create: { nameLength: NAME_LENGTH },
        requests: 1,
        everyMs: 250,
      },
    ]);
    report('A replica that is away', [
      ...Object.values(before.groups),
      ...Object.values(groups),
      ...Object.values(after),
      { group: 'Redis', outcomes: `client buffers: ${mebibytes(buffered)}` },
      { group: 'service', outcomes: `resident memory: + ${mebibytes(grown)}` },
    ]);
    const { failed, succeeded } = groups['writers, replica away']!;
    const unhindered = before.groups['writers, before']!;
    expectGoals(
      { what: 'client buffers in Redis, in MiB', is: buffered / MIB, atMost: 1 },
      { what: 'growth of resident memory, in MiB', is: grown / MIB, atMost: 192 },
      {
        what: 'the slowest answer, in ms',
        is: Math.max(failed.max, succeeded.max),
        // Longer by the delay that clients, Redis and service cause each other without a fault.
        atMost: patient(STORE_TIMEOUT_MS + 500) + unhindered.succeeded.max,
      },
      { what: 'failures of readers', is: groups['readers, replica away']!.failures, atMost: 0 },
      {
        what: 'until all write again, in ms',
        is: after['writers, afterwards']!.allServedMs,
        atMost: patient(2 * STORE_TIMEOUT_MS),
      },
    );
  });
});
