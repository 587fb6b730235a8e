/**
 * `npm run bench`: compares plant-store, as it is started in production, with other servers. Needs
 * Linux with two cores, a redis-server, and an idle machine.
 *
 *     --write          puts the table and the picture into docs/benchmark.md
 *     --earlier FILE   compares only with another version, by its compiled main.js
 *     --only TEXT      measures only the comparisons whose title has it, or p99
 *     --pairs N        pairs of slices for each figure; 7 by default
 *     --seconds N      length of a slice; 1 by default
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { cpus, release, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { execFileSync } from 'node:child_process';
import { parseArgs } from 'node:util';
import { OPERATIONS, type Row, pictureOf, tableOf } from './report';
import { type Operation, Server, type Slice, pinSelf, startRedis } from './server';

const { values: options } = parseArgs({
  options: {
    write: { type: 'boolean', default: false },
    earlier: { type: 'string' },
    only: { type: 'string', default: '' },
    pairs: { type: 'string', default: '7' },
    seconds: { type: 'string', default: '1' },
  },
});
const PAIRS = Number(options.pairs);
const SECONDS = Number(options.seconds);
const PAGE = 'docs/benchmark.md';
const PICTURE = 'docs/benchmark.svg';

interface Contestant {
  readonly name: string;
  readonly command: string;
  /** The number of its database; without it, it uses no Redis. */
  readonly database?: number;
}

const directory = mkdtempSync(join(tmpdir(), 'plant-store-bench-'));

const inMemory: Contestant = { name: 'in memory', command: 'dist/main.js' };
const onRedis: Contestant = { name: 'on Redis', command: 'dist/main.js', database: 0 };
const bare: Contestant = {
  name: 'node:http with fixed answers',
  command: 'bench/servers/bare.mjs',
};
const koa: Contestant = { name: 'Koa with fixed answers', command: 'bench/servers/koa.mjs' };
const crud: Contestant = {
  name: 'CRUD on Redis by hand',
  command: 'bench/servers/crud.mjs',
  database: 1,
};

/** Runs `work` with the servers, which have so many users. */
async function withServers<T>(
  contestants: readonly Contestant[],
  users: number,
  work: (...servers: Server[]) => Promise<T>,
): Promise<T> {
  const redis = await startRedis(directory);
  const servers: Server[] = [];
  try {
    for (const { command, database } of contestants) {
      const url = `${redis.url}/${database}`;
      const env = database === undefined ? {} : { EVENT_STORE: 'redis', REDIS_URL: url };
      servers.push(await Server.start(directory, command, env, users));
    }
    return await work(...servers);
  } finally {
    for (const server of servers) await server.stop();
    redis.stop();
  }
}

/**
 * The two take turns, because a shared machine changes its speed: only neighbouring slices are
 * compared.
 */
async function compare(
  ours: Contestant,
  theirs: Contestant,
  users: number,
): Promise<readonly Row[]> {
  const title = `${ours.name} against ${theirs.name}, ${users} ${users === 1 ? 'user' : 'users'}`;
  if (!title.includes(options.only)) return [];
  console.error(title);
  return withServers([ours, theirs], users, async (one, another) => {
    const slices: Record<Operation, (readonly [Slice, Slice])[]> = {
      GET: [],
      POST: [],
      DELETE: [],
    };
    for (let pair = 0; pair < PAIRS; pair++)
      for (const operation of OPERATIONS) {
        const first = await (pair % 2 === 0 ? one : another).slice(operation, SECONDS);
        const second = await (pair % 2 === 0 ? another : one).slice(operation, SECONDS);
        slices[operation].push(pair % 2 === 0 ? [first, second] : [second, first]);
      }
    const cells = {} as Record<Operation, Row['cells'][Operation]>;
    for (const operation of OPERATIONS) {
      const pairs = slices[operation];
      const ratio = median(pairs.map(([our, their]) => their.microseconds / our.microseconds));
      const perSecond = median(pairs.map(([our, their]) => our.perSecond / their.perSecond));
      const [us, them] = [0, 1].map((side) =>
        median(pairs.map((each) => each[side]!.microseconds)),
      );
      console.error(`  ${operation}: ${us!.toFixed(1)} µs, ${them!.toFixed(1)} µs`);
      cells[operation] = { ratio, text: `${ratio.toFixed(2)} (${perSecond.toFixed(2)})` };
    }
    return [{ title, cells }];
  });
}

/**
 * The 99th percentiles of the first server, as multiples of those of each other, at half of what
 * each serves.
 */
async function compareLatency(
  contestants: readonly Contestant[],
  users: number,
): Promise<readonly Row[]> {
  console.error('p99 at half of the capacity');
  return withServers(contestants, users, async (...servers) => {
    const p99: Record<Operation, number[][]> = { GET: [], POST: [], DELETE: [] };
    for (let round = 0; round < 3; round++)
      for (const server of servers) {
        const half = {} as Record<Operation, number>;
        for (const each of OPERATIONS)
          half[each] = (await server.slice(each, SECONDS)).perSecond / 2;
        for (const each of OPERATIONS)
          (p99[each][servers.indexOf(server)] ??= []).push(
            await server.p99(each, half[each], 3 * SECONDS),
          );
      }
    return contestants.slice(1).map(({ name }, index) => {
      const cells = {} as Record<Operation, Row['cells'][Operation]>;
      for (const each of OPERATIONS) {
        const [ours, theirs] = [median(p99[each][0]!), median(p99[each][index + 1]!)];
        const text = `${(ours / theirs).toFixed(2)} (${ours.toFixed(1)} ms)`;
        cells[each] = { ratio: theirs / ours, text };
      }
      return {
        title: `p99 ${contestants[0]!.name}, as a multiple of ${name}, ${users} users`,
        cells,
      };
    });
  });
}

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[values.length >> 1]!;
}

function machine(): string {
  const redis = /v=(\S+)/.exec(
    execFileSync('redis-server', ['--version'], { encoding: 'utf8' }),
  )![1]!;
  const date = new Date().toISOString().slice(0, 10);
  const cores = `${cpus().length} cores (${cpus()[0]!.model})`;
  return `${date}, ${cores}, Linux ${release()}, Node ${process.version}, Redis ${redis}`;
}

async function main(): Promise<void> {
  execFileSync('npm', ['run', '--silent', 'build'], { stdio: 'inherit' });
  const { earlier } = options;
  const before = (ours: Contestant, database?: { database: number }): Contestant => ({
    name: `${ours.name} of before`,
    command: resolve(earlier!),
    ...database,
  });
  const pairs = earlier
    ? ([
        [inMemory, before(inMemory)],
        [onRedis, before(onRedis, { database: 1 })],
      ] as const)
    : ([
        [inMemory, bare],
        [inMemory, koa],
        [onRedis, crud],
      ] as const);
  const rows: Row[] = [];
  for (const [one, another] of pairs)
    for (const users of [1, 256]) rows.push(...(await compare(one, another, users)));
  const hasLatency = !earlier && 'p99'.includes(options.only);
  const latency = hasLatency ? await compareLatency([onRedis, bare, crud], 256) : [];
  const report = `${tableOf([...rows, ...latency])}\n\nMeasured on ${machine()}.`;
  console.log(report);
  if (!options.write || earlier || options.only) return;
  writeFileSync(PICTURE, pictureOf(rows));
  const section = `$1\n${report}\n\n![The ratios of the table as bars](benchmark.svg)\n$2`;
  const page = readFileSync(PAGE, 'utf8');
  writeFileSync(PAGE, page.replace(/(<!-- bench: .* -->)[^]*(<!-- \/bench -->)/, section));
}

pinSelf();
void main()
  .finally(() => rmSync(directory, { recursive: true, force: true }))
  .then(
    () => process.exit(0),
    (error: unknown) => {
      console.error(error);
      process.exit(1);
    },
  );
