// Measures which faults lose acknowledged writes: the table in docs/operations.md. Each run serves clients
// over HTTP from its own Redis, causes a fault, and counts the acknowledged writes that
// are lost afterwards. Needs a redis-server on the PATH, and strace for the power losses.
//
//     npm run durability -- 5                five runs of each row
//     npm run durability -- 5 promoted       those of the rows with this in the fault's name
//     npm run durability -- 5 --write        all rows, into docs/operations.md
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, truncateSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { markdown } from '../bench/table';
import { startInstance } from '../test/support/instance';
import { Load, type LoadRequest } from '../test/support/load';
import { localRedis } from '../test/support/redis/local';
import { Sentinel } from '../test/support/redis/sentinel';
import { RedisServer } from '../test/support/redis/server';
import { storedEvents } from '../test/support/stored-events';
import { TcpProxy } from '../test/support/tcp-proxy';
import { until } from '../test/support/until';
import { conditionsText, writeFigures } from './page-figures';

/** The replication lag of a replica whose link has a proxy. */
const LAG_MS = 20;

interface Outcome {
  readonly acknowledged: number;
  readonly lost: number;
}

/** Serves from `redis` for about a second, until `fault` has happened. Resolves with the acknowledged writes. */
async function serve(
  redis: { readonly url: string },
  waitReplicas: number,
  fault: () => Promise<void>,
  more: Readonly<Record<string, string>> = {},
): Promise<LoadRequest[]> {
  const environment = {
    REDIS_URL: redis.url,
    REDIS_WAIT_REPLICAS: String(waitReplicas),
    STORE_TIMEOUT_MS: '500',
    ...more,
  };
  const instances = await Promise.all([startInstance(environment), startInstance(environment)]);
  const load = new Load({ urls: instances.map(({ url }) => url), users: ['alice'], clients: 8 });
  // At a random moment of the second between two fsyncs.
  await pause(1000 + 1000 * Math.random());
  await fault();
  await load.stop();
  await Promise.all(instances.map((instance) => instance.stop()));
  return load.requests.filter(({ request, response }) => request.type !== 'list' && response.status < 300);
}

async function lostFrom(redis: RedisServer, acknowledged: readonly LoadRequest[]): Promise<Outcome> {
  const nameOf = new Map<number, string>();
  const recorded = new Set<string>();
  for (const { type, id, name } of await storedEvents(redis.admin, 'plant-store:{alice}:events')) {
    if (name !== undefined) nameOf.set(id, name);
    recorded.add(`${type === 'PlantCreated' ? 'create' : 'delete'} ${nameOf.get(id)!}`);
  }
  const lost = acknowledged.filter(
    ({ request }) => request.type !== 'list' && !recorded.has(`${request.type} ${request.name!}`),
  );
  return { acknowledged: acknowledged.length, lost: lost.length };
}

/** Starts servers for one run. */
async function withServers(run: (start: StartServer) => Promise<Outcome>): Promise<Outcome> {
  const source = await localRedis();
  if ('reason' in source) throw new Error(source.reason);
  const servers: RedisServer[] = [];
  try {
    return await run(async (...args) => {
      const server = await RedisServer.start(await source.create(args));
      servers.push(server);
      return server;
    });
  } finally {
    await Promise.all(servers.map((server) => server.stop()));
  }
}

type StartServer = (...args: string[]) => Promise<RedisServer>;

const alone =
  (...args: string[]) =>
  () =>
    withServers(async (start) => {
      const redis = await start(...args);
      const acknowledged = await serve(redis, 0, () => redis.kill9());
      await redis.start();
      return lostFrom(redis, acknowledged);
    });

/**
 * Kills Redis, and then truncates the append-only file to the part that an fsync had
 * confirmed: the worst possible effect of a power loss at that moment.
 */
const powerLoss = (fsync: 'always' | 'everysec') => () =>
  withServers(async (start) => {
    const redis = await start('--appendonly', 'yes', '--appendfsync', fsync);
    const pid = /process_id:(\d+)/.exec(await redis.admin.info('server'))![1]!;
    const directory = (await redis.admin.config('GET', 'dir'))[1]!;
    const trace = join(tmpdir(), `plant-store-strace-${pid}`);
    const tracer = spawn('strace', ['-fy', '-etrace=write,fdatasync,fsync', '-p', pid, '-o', trace]);
    const traced = once(tracer, 'exit');
    await once(tracer.stderr, 'data');
    const acknowledged = await serve(redis, 0, async () => {
      await redis.kill9();
      await traced;
    });
    truncateSync(
      join(directory, 'appendonlydir/appendonly.aof.1.incr.aof'),
      bytesSynced(readFileSync(trace, 'utf8')),
    );
    await redis.start();
    return lostFrom(redis, acknowledged);
  });

/** The bytes that were written before the last complete fsync. */
function bytesSynced(trace: string): number {
  let written = 0;
  let synced = 0;
  const begun = new Map<string, number>();
  for (const line of trace.split('\n')) {
    const [, thread, call] = /^(\d+) +(.*)$/.exec(line) ?? [];
    if (thread === undefined || call === undefined) continue;
    if (/^write\(.*incr\.aof>/.test(call)) written += Number(/= (\d+)$/.exec(call)?.[1] ?? 0);
    if (/^f(?:data)?sync\(.*incr\.aof>/.test(call)) begun.set(thread, written);
    if (/f(?:data)?sync.* = 0$/.test(call)) synced = Math.max(synced, begun.get(thread) ?? 0);
  }
  return synced;
}

const failover = (waitReplicas: number, replicas: 1 | 2) => () =>
  withServers(async (start) => {
    const primary = await start();
    const link = await TcpProxy.to({ host: primary.host, port: primary.port });
    const far = await start('--replicaof', '127.0.0.1', String(link.port));
    if (replicas === 2) await start('--replicaof', ...primary.peer);
    await follow(primary, replicas);
    link.delayMs = LAG_MS;
    const acknowledged = await serve(primary, waitReplicas, async () => {
      // Bytes in flight are lost with the machine that sent them.
      link.cut();
      await primary.kill9();
      await far.admin.replicaof('NO', 'ONE');
    });
    await link.close();
    return lostFrom(far, acknowledged);
  });

/** A network partition: the far replica is promoted while the primary continues for half a second. */
const splitBrain = (waitReplicas: number) => () =>
  withServers(async (start) => {
    const primary = await start();
    const link = await TcpProxy.to({ host: primary.host, port: primary.port });
    const far = await start('--replicaof', '127.0.0.1', String(link.port));
    await start('--replicaof', ...primary.peer);
    await follow(primary, 2);
    const acknowledged = await serve(primary, waitReplicas, async () => {
      link.blackhole();
      await far.admin.replicaof('NO', 'ONE');
      await pause(500);
      await primary.admin.replicaof(...far.peer);
    });
    await link.close();
    return lostFrom(far, acknowledged);
  });

/** `SENTINEL FAILOVER`, while the old primary continues until its Sentinels demote it. */
const sentinelFailover = (waitReplicas: number) => () =>
  withServers(async (start) => {
    const primary = await start();
    const replica = await start('--replicaof', ...primary.peer);
    const sentinels = await Promise.all([1, 2, 3].map(() => Sentinel.watch(primary.port, 2)));
    await until(async () => (await sentinels[0]!.others()) === 2, 30_000);
    const environment = {
      REDIS_SENTINELS: sentinels.map(({ port }) => `127.0.0.1:${port}`).join(),
      REDIS_SENTINEL_MASTER: 'plants',
    };
    const failover = async () => {
      await sentinels[0]!.failover();
      // Sentinel closes all connections of the old primary when it demotes it.
      await until(() => primary.admin.status === 'end', 30_000);
    };
    const acknowledged = await serve(primary, waitReplicas, failover, environment);
    await Promise.all(sentinels.map((sentinel) => sentinel.stop()));
    await replica.admin.connect().catch(() => {});
    return lostFrom(replica, acknowledged);
  });

/** `FAILOVER`, which stops writes until the replica has all of them. Then the address is that of the new primary. */
const plannedFailover = () =>
  withServers(async (start) => {
    const primary = await start();
    const replica = await start('--replicaof', ...primary.peer);
    await follow(primary, 1);
    const target = { host: primary.host, port: primary.port };
    const address = await TcpProxy.to(target);
    const acknowledged = await serve({ url: `redis://127.0.0.1:${address.port}` }, 0, async () => {
      await primary.admin.call('FAILOVER');
      await until(async () => (await replica.admin.role())[0] === 'master');
      await pause(200);
      target.port = replica.port;
      address.cut();
      await pause(500);
    });
    await address.close();
    return lostFrom(replica, acknowledged);
  });

async function follow(primary: RedisServer, replicas: number): Promise<void> {
  do await primary.admin.set('written', 'to be waited for');
  while ((await primary.admin.wait(replicas, 50)) < replicas);
}

const LINES: readonly (readonly [topology: string, fault: string, run: () => Promise<Outcome>])[] = [
  ['`appendfsync always`', 'kill -9', alone('--appendonly', 'yes', '--appendfsync', 'always')],
  ['`appendfsync everysec`', 'kill -9', alone('--appendonly', 'yes', '--appendfsync', 'everysec')],
  ['no AOF, no snapshots', 'kill -9', alone()],
  ['`appendfsync always`', 'power loss', powerLoss('always')],
  ['`appendfsync everysec`', 'power loss', powerLoss('everysec')],
  [`a replica ${LAG_MS} ms behind`, 'primary killed, replica promoted', failover(0, 1)],
  ['the same, `REDIS_WAIT_REPLICAS=1`', 'primary killed, replica promoted', failover(1, 1)],
  [
    `two replicas, one ${LAG_MS} ms behind, \`REDIS_WAIT_REPLICAS=1\``,
    'primary killed, the late one promoted',
    failover(1, 2),
  ],
  ['the same, `REDIS_WAIT_REPLICAS=2`', 'primary killed, the late one promoted', failover(2, 2)],
  [
    'two replicas, `REDIS_WAIT_REPLICAS=1`',
    'one disconnected and promoted, the primary continues for 0.5 s',
    splitBrain(1),
  ],
  [
    'two replicas, `REDIS_WAIT_REPLICAS=2`',
    'one disconnected and promoted, the primary continues for 0.5 s',
    splitBrain(2),
  ],
  ['three Sentinels, a replica', 'planned: `SENTINEL FAILOVER`', sentinelFailover(0)],
  ['the same, `REDIS_WAIT_REPLICAS=1`', 'planned: `SENTINEL FAILOVER`', sentinelFailover(1)],
  ['a replica, no Sentinel', 'planned: `FAILOVER`, and the address moved', plannedFailover],
];

const HEADER = ['Redis', 'fault', 'runs', 'acknowledged', 'lost', 'runs with a loss', 'most lost in one run'];

async function main(): Promise<void> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { write: { type: 'boolean', default: false } },
  });
  const [runs = '5', wanted = ''] = positionals;
  if (values.write && wanted !== '') throw new RangeError('--write needs all rows');
  // Keeps the process alive, because the servers alone do not.
  const awake = setInterval(() => {}, 1000);
  const rows: (readonly unknown[])[] = [];
  for (const [topology, fault, run] of LINES.filter(([, fault]) => fault.includes(wanted))) {
    const outcomes: Outcome[] = [];
    for (let count = 0; count < Number(runs); count++) outcomes.push(await run());
    const lost = outcomes.map((outcome) => outcome.lost);
    const sum = (numbers: readonly number[]) => numbers.reduce((total, number) => total + number, 0);
    const acknowledged = sum(outcomes.map((outcome) => outcome.acknowledged));
    const losses = lost.filter((number) => number > 0).length;
    rows.push([topology, fault, runs, acknowledged, sum(lost), losses, Math.max(...lost)]);
    console.log(rows.at(-1)!.join('  '));
  }
  clearInterval(awake);
  const source = await localRedis();
  const redis = 'reason' in source ? source.reason : source.name.replace('the redis-server', 'Redis');
  const text = `${conditionsText(redis.replace(' on the PATH', ''))}:\n\n${markdown(HEADER, rows, '---')}`;
  console.log(`\n${text}`);
  if (values.write) writeFigures('docs/operations.md', 'durability', text);
}

main().catch((error: unknown) => {
  console.error(error);
  process.exitCode = 1;
});
