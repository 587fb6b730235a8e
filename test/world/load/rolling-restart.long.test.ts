import { setTimeout as pause } from 'node:timers/promises';
import { freePort } from '../../support/redis/free-port';
import { type RedisServer, describeOwnRedis } from '../../support/redis';
import { temporaryDirectory } from '../../support/temporary-directory';
import { until } from '../../support/until';
import { figuresOf, loadFixture } from './fixture';
import { Haproxy } from './haproxy';
import { userNames, writeHistories } from './histories';
import { expectGoals, reportFigures } from './report';

const USERS = 500;
const EVENTS = 2000;
const PLAYED_MS = 30_000;

describeOwnRedis(
  `Two instances that deploy/haproxy.cfg serves ${USERS} users of ${EVENTS} events from`,
  (startRedis) => {
    const report = reportFigures();
    const { start, play } = loadFixture();
    const inDirectory = temporaryDirectory();
    const users = userNames('user', USERS);
    let redis: RedisServer;
    let haproxy: Haproxy | undefined;

    before(async () => {
      redis = await startRedis('--appendonly', 'no');
      await writeHistories(redis.admin, users, { events: EVENTS, deletionEvery: 4 });
    });
    afterEach(async () => {
      await haproxy?.stop();
      haproxy = undefined;
    });

    it('refuses less than 2 % of requests while each is restarted', async function () {
      this.timeout(180_000);
      const ports = [await freePort(), await freePort()];
      const instance = (port: number) => start(redis.url, users, { PORT: String(port), LOG_LEVEL: 'warn' });
      const instances = await Promise.all(ports.map(instance));
      haproxy = await Haproxy.start({
        port: await freePort(),
        servers: ports,
        file: inDirectory('haproxy.cfg'),
      });
      const list = { users, get: ['/plants?limit=100'] };
      const once = { ...list, clientsPerUser: 0, requests: 1 };
      const warmUp = instances.map(({ url }, index) => ({ ...once, name: `warm up ${index + 1}`, url }));
      await play(haproxy.url, 60_000, warmUp);
      const everySecond = { ...list, everyMs: 1000, arriveWithinMs: 1000, honourRetryAfter: true };
      const steady = await play(haproxy.url, 3000, [{ ...everySecond, name: 'before' }]);

      const before = haproxy.downs;
      const playing = play(haproxy.url, PLAYED_MS, [{ ...everySecond, name: 'during' }]);
      await pause(2000);
      for (const [index, port] of ports.entries()) {
        instances[index]!.signal('SIGTERM');
        await instances[index]!.exitCode();
        const { ups } = haproxy;
        await instance(port);
        // Like orchestrators: the next instance restarts as soon as this one is ready.
        await until(() => haproxy!.ups > ups);
      }
      const { groups } = await playing;
      const downs = haproxy.downs - before;
      report(`Rolling restart of two instances, ${USERS} users of ${EVENTS} events`, [
        ...figuresOf(steady, 'before'),
        groups['during']!,
        { group: 'HAProxy', outcomes: `servers went down: ${downs}` },
      ]);

      const { requests, failures } = groups['during']!;
      expectGoals(
        { what: 'share of requests that failed', is: failures / requests, atMost: 0.02 },
        // Each goes down once, when it gets the signal.
        { what: 'how often a server went down', is: downs, atMost: ports.length },
      );
    });
  },
);
