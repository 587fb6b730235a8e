/**
 * `npm run capacity`: what requests and programs cost Redis on this machine; docs/capacity.md says
 * how to read it. Needs Linux with two cores, redis-server and redis-cli, and an idle machine.
 */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { OPERATIONS } from './report';
import { Server, pinSelf, startRedis } from './server';

const SECONDS = 2;
/** Programs that are idle at the same time, because one costs too little to be seen. */
const PROGRAMS = 4;
const IDLE_MS = 10_000;

type Redis = Awaited<ReturnType<typeof startRedis>>;

const directory = mkdtempSync(join(tmpdir(), 'plant-store-capacity-'));
const print = (...cells: readonly (string | number)[]) =>
  console.log(
    `| ${cells.map((cell) => (typeof cell === 'number' ? Math.round(cell) : cell)).join(' | ')} |`,
  );

async function withRedis(
  count: number,
  work: (...servers: Redis[]) => Promise<void>,
): Promise<void> {
  const more = count > 1 ? ['--cluster-enabled', 'yes'] : [];
  const servers: Redis[] = [];
  for (let each = 0; each < count; each++) servers.push(await startRedis(directory, ...more));
  try {
    if (count > 1) {
      const addresses = servers.map(({ port }) => `127.0.0.1:${port}`);
      execFileSync('redis-cli', ['--cluster', 'create', ...addresses, '--cluster-yes']);
    }
    await work(...servers);
  } finally {
    for (const { stop } of servers) stop();
  }
}

const settingsOf = ([first, second]: readonly Redis[]) => ({
  EVENT_STORE: 'redis',
  REDIS_URL: first!.url,
  ...(second && { REDIS_CLUSTER_NODES: `127.0.0.1:${first!.port}` }),
});
const used = (servers: readonly Redis[]) =>
  servers.reduce((sum, { microseconds }) => sum + microseconds(), 0);

/**
 * Processor time of Redis and of the instance for each request, as fast as one instance can ask.
 */
async function costs(shards: number, users: number): Promise<void> {
  await withRedis(shards, async (...servers) => {
    const instance = await Server.start(directory, 'dist/main.js', settingsOf(servers), users);
    for (const operation of OPERATIONS) {
      const before = used(servers);
      const slice = await instance.slice(operation, SECONDS);
      const perRequest = (used(servers) - before) / slice.requests;
      print(
        `${operation}, ${users} ${users === 1 ? 'user' : 'users'}, ${shards} ${shards === 1 ? 'primary' : 'primaries'}`,
        perRequest.toFixed(1),
        (1e6 * shards) / perRequest,
        slice.microseconds,
        slice.perSecond,
      );
    }
    await instance.stop();
  });
}

/** Processor time that programs without requests cost Redis, as a share of a core. */
async function idle(): Promise<void> {
  await withRedis(1, async (redis) => {
    const share = async () => {
      const before = redis.microseconds();
      await pause(IDLE_MS);
      return (redis.microseconds() - before) / IDLE_MS / 10;
    };
    const alone = await share();
    const environment = {
      PATH: process.env.PATH,
      ...settingsOf([redis]),
      AUTH_TOKENS: 'a:token',
      PORT: '0',
    };
    for (const [what, ...command] of [
      ['an idle instance', 'dist/main.js'],
      ['a program that follows all users', 'dist/cli.js', 'events', 'tail'],
    ]) {
      const start = (): ChildProcess =>
        spawn(process.execPath, command, { env: environment, stdio: 'ignore' });
      const programs = Array.from({ length: PROGRAMS }, start);
      await pause(3000);
      print(what!, `${(((await share()) - alone) / PROGRAMS).toFixed(2)} %`);
      for (const program of programs) program.kill('SIGKILL');
    }
  });
}

async function main(): Promise<void> {
  execFileSync('npm', ['run', '--silent', 'build'], { stdio: 'inherit' });
  print(
    'request',
    'µs of Redis',
    'a second of Redis',
    'µs of the instance',
    'a second of the instance',
  );
  print('---', '--:', '--:', '--:', '--:');
  for (const [shards, users] of [
    [1, 1],
    [1, 256],
    [3, 256],
  ] as const)
    await costs(shards, users);
  console.log();
  print('what', 'costs Redis');
  print('---', '--:');
  await idle();
}

pinSelf();
void main()
  .finally(() => rmSync(directory, { recursive: true, force: true }))
  .then(() => process.exit(0));
