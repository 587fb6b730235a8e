import type { Redis } from 'ioredis';
import { type RedisServer, describeOwnRedis } from '../../support/redis';
import { until } from '../../support/until';
import { figuresOf, loadFixture } from './fixture';
import { userNames, writeHistories } from './histories';
import { expectGoals, reportFigures } from './report';
import { LONG } from './service';
import type { ClientGroup } from './workload';
import { keyOf } from '../../support/keys';

const EVENTS = LONG ? 1_000_000 : 50_000;
/** Clients of the other users, each with 20 plants. */
const NEIGHBOURS = userNames('neighbour', 5);
/** Living plants of the user whose other plants were deleted. */
const FEW = 10;

describeOwnRedis(`A fresh instance, and users of ${EVENTS} events with a snapshot`, (startRedis) => {
  const report = reportFigures();
  const { start, play } = loadFixture({ generators: 2 });
  const users = ['few', 'many', ...NEIGHBOURS];
  let redis: RedisServer;

  const neighbours: ClientGroup = { name: 'neighbours', users: NEIGHBOURS, get: ['/plants'], everyMs: 20 };
  const list = (user: string): ClientGroup => ({
    name: user,
    users: [user],
    get: ['/plants?limit=10'],
    requests: 1,
    honourRetryAfter: true,
  });

  before(async function () {
    this.timeout(180_000);
    redis = await startRedis('--appendonly', 'no');
    await writeHistories(redis.admin, ['few'], { events: EVENTS, deletionEvery: 2 });
    await writeHistories(redis.admin, ['many'], { events: EVENTS });
    await writeHistories(redis.admin, NEIGHBOURS, { events: 20 });
  });

  it('answers soon, and meanwhile other users as fast as ever', async function () {
    this.timeout(180_000).slow(120_000);
    const first = await start(redis.url, users);
    const creates = await play(first.url, 30_000, [
      {
        name: 'creates',
        users: ['few'],
        clientsPerUser: 1,
        create: { nameLength: 12 },
        requests: FEW,
        honourRetryAfter: true,
      },
    ]);
    await redis.admin.call('SLOWLOG', 'RESET');
    await redis.admin.config('SET', 'slowlog-log-slower-than', '500');
    /** Has a snapshot of the user saved, after a replay. */
    const saved = async (user: string) => {
      const beside = await play(first.url, 60_000, [list(user), neighbours]);
      await until(async () => (await redis.admin.exists(keyOf(user, 'plant-store', 'snapshot'))) === 1);
      return beside;
    };
    await saved('few');
    const saving = play(first.url, LONG ? 20_000 : 3000, [neighbours], 1);
    const [manyReplayed] = figuresOf(await saved('many'), 'many');
    const [besideSave] = figuresOf(await saving, 'neighbours');
    await first.kill();

    const second = await start(redis.url, users);
    await play(second.url, 10_000, [{ ...neighbours, requests: 1 }]);
    const [few] = figuresOf(await play(second.url, 30_000, [list('few')]), 'few');
    const [many, besideLoad] = figuresOf(
      await play(second.url, 30_000, [list('many'), neighbours]),
      'many',
      'neighbours',
    );
    const { slowestMs, command } = await slowestCommand(redis.admin);
    report(
      `Users of ${EVENTS} events with a snapshot; slowest command of Redis: ${slowestMs} ms (${command})`,
      [
        { ...creates.groups['creates']!, name: 'few, by replay' },
        few!,
        { ...manyReplayed!, name: 'many, by replay' },
        many!,
        { ...besideSave!, name: 'neighbours beside the save' },
        { ...besideLoad!, name: 'neighbours beside the load' },
      ],
    );
    expectGoals(
      {
        what: 'until the user of few plants was served, in ms',
        is: few!.allServedMs,
        atMost: 300,
        latency: true,
      },
      { what: 'refusals of the user of few plants', is: few!.failures, atMost: 0 },
      {
        what: 'until the user of many plants was served, in ms',
        is: many!.allServedMs,
        atMost: 3000,
        latency: true,
      },
      {
        what: 'p99 of neighbours beside the load, in ms',
        is: besideLoad!.succeeded.p99,
        atMost: 50,
        latency: true,
      },
      {
        what: 'p99 of neighbours beside the save, in ms',
        is: besideSave!.succeeded.p99,
        atMost: 50,
        latency: true,
      },
      { what: 'failures of neighbours', is: besideLoad!.failures + besideSave!.failures, atMost: 0 },
      { what: 'slowest command of Redis, in ms', is: slowestMs, atMost: 2, latency: true },
    );
  });
});

/** The slowest command in the slow log that reads or writes a part of a snapshot. */
async function slowestCommand(redis: Redis) {
  const entries = (await redis.call('SLOWLOG', 'GET', '-1')) as [
    id: number,
    at: number,
    micros: number,
    args: string[],
  ][];
  let [slowestMs, command] = [0, 'none over 0.5 ms'];
  for (const [, , micros, args] of entries)
    if (args.some((arg) => arg.includes('}:snapshot')) && micros / 1000 > slowestMs)
      [slowestMs, command] = [micros / 1000, `${args[0]!} of ${args.length}`];
  return { slowestMs, command };
}
