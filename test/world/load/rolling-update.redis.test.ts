import { expect } from 'chai';
import { freePort } from '../../support/redis/free-port';
import { type RedisServer, describeOwnRedis } from '../../support/redis';
import { temporaryDirectory } from '../../support/temporary-directory';
import { until } from '../../support/until';
import { loadFixture } from './fixture';
import { Haproxy } from './haproxy';
import { userNames } from './histories';
import { reportFigures } from './report';
import type { GroupFigures } from './workload';

const CLIENTS = 64;

describeOwnRedis(`A rolling update of two instances under the load of ${CLIENTS} clients`, (startRedis) => {
  const report = reportFigures();
  const { start, play } = loadFixture();
  const inDirectory = temporaryDirectory();
  const users = userNames('user', CLIENTS);
  let redis: RedisServer;
  let haproxy: Haproxy | undefined;

  before(async function () {
    if (!Haproxy.isInstalled()) this.skip();
    redis = await startRedis('--appendonly', 'no');
  });
  afterEach(async () => {
    await haproxy?.stop();
    haproxy = undefined;
  });

  it('fails no request', async function () {
    this.timeout(120_000).slow(20_000);
    const ports = [await freePort(), await freePort(), await freePort()];
    const instance = (port: number) => start(redis.url, users, { PORT: String(port), LOG_LEVEL: 'warn' });
    const old = await Promise.all(ports.slice(0, 2).map(instance));
    haproxy = await Haproxy.start({
      port: await freePort(),
      servers: ports,
      file: inDirectory('haproxy.cfg'),
    });
    // The server of the third port, which no instance has yet.
    await until(() => haproxy!.downs === 1);

    /** Like a Deployment with `maxSurge: 1` and `maxUnavailable: 0`: an instance ends when its successor is ready. */
    async function update(): Promise<(number | null)[]> {
      const exitCodes: (number | null)[] = [];
      for (const [index, ending] of old.entries()) {
        const { ups } = haproxy!;
        await instance(ports[(index + 2) % 3]!);
        await until(() => haproxy!.ups > ups);
        ending.signal('SIGTERM');
        exitCodes.push(await ending.exitCode());
      }
      return exitCodes;
    }

    const group = { users, get: ['/plants?limit=10'], create: { nameLength: 20 }, everyMs: 50 };
    const figures: GroupFigures[] = [];
    const updated = new AbortController();
    const updating = update().finally(() => updated.abort());
    do {
      const { groups } = await play(haproxy.url, 2000, [{ ...group, name: 'clients' }]);
      figures.push(groups['clients']!);
    } while (!updated.signal.aborted);

    report('Rolling update of two instances', figures);
    expect(await updating).to.deep.equal([0, 0]);
    expect(figures.flatMap(({ outcomes }) => Object.keys(outcomes))).to.deep.equal(figures.map(() => '200'));
  });
});
