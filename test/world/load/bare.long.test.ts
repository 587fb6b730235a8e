/** The processor time of a request, as a multiple of that of the bare server of the benchmark in the same run. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpuSeconds } from '../../../bench/machine';
import { freePort } from '../../support/redis/free-port';
import { describeOwnRedis } from '../../support/redis';
import { endWithProcess } from '../../support/redis/end-with-process';
import { temporaryDirectory } from '../../support/temporary-directory';
import { loadFixture } from './fixture';
import { Haproxy } from './haproxy';
import { userNames } from './histories';
import { expectGoals, reportFigures } from './report';

const USERS = userNames('user', 64);
const WORK = { get: ['/plants?limit=20'], create: { nameLength: 12 } };
/** Each side has this many turns at each rate, because other work on the machine changes the cost of both. */
const TURNS = 4;
const TURN_MS = 5000;

/** A server behind a proxy of its own. */
interface Side {
  readonly url: string;
  readonly pid: number;
  requests: number;
  seconds: number;
}

describeOwnRedis('An instance at a constant rate', (startRedis) => {
  const report = reportFigures();
  const { start, play } = loadFixture();
  const inDirectory = temporaryDirectory();
  const proxies: Haproxy[] = [];
  let child: ChildProcess | undefined;

  afterEach(async () => {
    child?.kill('SIGKILL');
    await Promise.all(proxies.splice(0).map((proxy) => proxy.stop()));
  });

  async function startBare(): Promise<{ url: string; pid: number }> {
    const program = ['-r', 'ts-node/register/transpile-only', 'bench/servers/bare.ts'];
    const started = spawn(process.execPath, program, { stdio: ['ignore', 'pipe', 'inherit'] });
    child = started;
    started.once(
      'close',
      endWithProcess(() => started.kill('SIGKILL')),
    );
    const [line] = (await once(started.stdout, 'data')) as [Buffer];
    return { url: /http:\S+/.exec(line.toString())![0], pid: started.pid! };
  }

  async function behindProxy({ url, pid }: { url: string; pid: number }): Promise<Side> {
    const port = await freePort();
    const file = inDirectory(`haproxy-${pid}.cfg`);
    const proxy = await Haproxy.start({ port, servers: [Number(new URL(url).port)], file });
    proxies.push(proxy);
    const side = { url: proxy.url, pid, requests: 0, seconds: 0 };
    // Also until the code is compiled.
    await play(side.url, 6000, [{ ...WORK, name: 'warm up', users: USERS }]);
    return side;
  }

  it('takes at most eight times the processor time of the bare server', async function () {
    this.timeout(240_000);
    const { url: REDIS_URL } = await startRedis('--appendfsync', 'always');
    const instance = await start(REDIS_URL, USERS, { LOG_LEVEL: 'warn' });
    const [bare, ours] = [await behindProxy(await startBare()), await behindProxy(instance)];
    const rows: Record<string, number>[] = [];
    for (const [users, everyMs] of [
      [16, 20],
      [64, 16],
    ] as const) {
      const group = { ...WORK, name: 'all', users: USERS.slice(0, users), everyMs };
      for (const side of [bare, ours]) Object.assign(side, { requests: 0, seconds: 0 });
      for (let turn = 0; turn < TURNS; turn++)
        for (const side of [bare, ours]) {
          const before = cpuSeconds(side.pid)!;
          const { groups } = await play(side.url, TURN_MS, [group]);
          side.seconds += cpuSeconds(side.pid)! - before;
          side.requests += groups['all']!.requests;
        }
      const [costOfBare, cost] = [bare, ours].map(({ seconds, requests }) => (1e6 * seconds) / requests);
      rows.push({
        'requests a second': (users * 1000) / everyMs,
        'reached by the instance': Math.round((1000 * ours.requests) / (TURNS * TURN_MS)),
        'µs of the bare server': Math.round(costOfBare!),
        'µs of the instance': Math.round(cost!),
        ratio: Math.round((10 * cost!) / costOfBare!) / 10,
      });
    }
    report('An instance and the bare server', rows);
    expectGoals(...rows.map(({ ratio }) => ({ what: 'ratio', is: ratio, atMost: 8 })));
  });
});
