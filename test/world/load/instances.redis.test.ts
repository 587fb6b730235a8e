import { expect } from 'chai';
import { metricOf } from '../../support/metrics';
import { ProcessorShare } from '../../support/processor-share';
import { freePort } from '../../support/redis/free-port';
import { type StartRedis, describeOwnRedis } from '../../support/redis';
import { formCluster } from '../../support/redis/form-cluster';
import type { ServiceProcess } from '../../support/service-process';
import { temporaryDirectory } from '../../support/temporary-directory';
import { tokenOf } from '../../support/token';
import { until } from '../../support/until';
import { loadFixture } from './fixture';
import { Haproxy } from './haproxy';
import { userNames } from './histories';
import { expectGoals, reportFigures } from './report';
import { LONG } from './service';

const COUNTS = LONG ? [1, 2, 4] : [2];
const PLAYED_MS = LONG ? 10_000 : 1500;
const USERS = userNames('user', 64);
/** Users of one instance who send requests at a constant rate, and the time between two requests of each. */
const STEADY_USERS = 16;
const STEADY_MS = 20;
/** Of a core. */
const SHARE = 0.1;
/** For one instance: more of them share the cores, and each must have compiled its code before it is measured. */
const WARM_UP_MS = 6000;
const WORK = { get: ['/plants?limit=20'], create: { nameLength: 12 } };
const HOT = 'hot';
const HOT_CLIENTS = 16;

/** Starts what the instances store events in; returns the variables that they find it by. */
type StartStore = (startRedis: StartRedis) => Promise<Readonly<Record<string, string>>>;

const STORES: Readonly<Record<string, StartStore>> = {
  'one Redis': async (startRedis) => ({ REDIS_URL: (await startRedis('--appendfsync', 'always')).url }),
  'a Cluster of three': async (startRedis) => {
    const nodes = await Promise.all(
      [0, 1, 2].map(() => startRedis('--cluster-enabled', 'yes', '--appendfsync', 'always')),
    );
    await formCluster(nodes);
    const addresses = nodes.map(({ port }) => `127.0.0.1:${port}`);
    return { REDIS_URL: nodes[0]!.url, REDIS_CLUSTER_NODES: addresses.join() };
  },
};

for (const [name, startStore] of Object.entries(STORES)) {
  describeOwnRedis(`Several instances on ${name}`, (startRedis) => {
    const report = reportFigures();
    const { start, play } = loadFixture();
    const inDirectory = temporaryDirectory();
    let where: Readonly<Record<string, string>>;
    let haproxy: Haproxy | undefined;
    const shares: ProcessorShare[] = [];
    /** Processor time of a request, in microseconds, in the order of {@link COUNTS}. */
    const costs: number[] = [];

    before(async () => {
      where = await startStore(startRedis);
    });
    afterEach(async () => {
      await haproxy?.stop();
      haproxy = undefined;
      // Their processes have ended.
      for (const share of shares.splice(0)) share.remove();
    });

    function startInstances(count: number, users: readonly string[]): Promise<ServiceProcess[]> {
      return Promise.all(
        Array.from({ length: count }, () => start('', users, { ...where, LOG_LEVEL: 'warn' })),
      );
    }

    /** Resolves with its URL, when an instance is ready behind it. */
    async function startProxy(instances: readonly ServiceProcess[]): Promise<string> {
      haproxy = await Haproxy.start({
        port: await freePort(),
        servers: instances.map(({ url }) => Number(new URL(url).port)),
        file: inDirectory('haproxy.cfg'),
      });
      const { url } = haproxy;
      await until(() =>
        fetch(`${url}/health/ready`).then(
          ({ ok }) => ok,
          () => false,
        ),
      );
      return url;
    }

    for (const count of COUNTS) {
      it(`share the users of ${count} behind the proxy, and agree on a user of all of them`, async function () {
        this.timeout(90_000).slow(45_000);
        const instances = await startInstances(count, [...USERS, HOT]);
        const url = await startProxy(instances);
        const { groups } = await play(url, PLAYED_MS, [{ ...WORK, name: 'distinct', users: USERS }]);
        // At a constant rate for each instance, that all of them together can serve on this machine.
        const steady = {
          ...WORK,
          name: 'steady',
          users: USERS.slice(0, count * STEADY_USERS),
          everyMs: STEADY_MS,
        };
        const secondsBefore = await cpuSeconds(instances);
        const { steady: ofSteady } = (await play(url, PLAYED_MS, [steady])).groups;
        /** Processor time of a request, in microseconds. */
        const cost = ((await cpuSeconds(instances)) - secondsBefore) * (1e6 / ofSteady!.requests);
        costs.push(cost);
        const inMemory = await Promise.all(instances.map(usersInMemory));

        const before = await plantsOf(instances[0]!);
        const hot = instances.map(({ url }, index) => ({
          name: `hot on ${index + 1}`,
          url,
          users: [HOT],
          clientsPerUser: HOT_CLIENTS,
          ...WORK,
        }));
        const { groups: ofHot } = await play(url, PLAYED_MS, hot);
        const shown = await Promise.all(instances.map(plantsOf));
        const figures = Object.values(ofHot);
        const sum = (numbers: readonly number[]) => numbers.reduce((total, next) => total + next, 0);
        const [requests, failed] = [
          sum(figures.map((each) => each.requests)),
          sum(figures.map((each) => each.failures)),
        ];
        const perSecond = (requests: number) => Math.round((requests * 1000) / PLAYED_MS);
        report(`${count} instances on ${name}`, [
          {
            'distinct users: requests a second': perSecond(groups['distinct']!.requests),
            'at a constant rate: µs of processor each': cost.toFixed(0),
            p99: groups['distinct']!.succeeded.p99.toFixed(1),
            'users in memory': inMemory.join(' + '),
            'one user on all: requests a second': perSecond(requests),
            conflicts: sum(
              await Promise.all(instances.map((each) => metricOf(each.url, 'plant_store_conflicts_total'))),
            ),
          },
        ]);

        expect(new Set(shown).size, 'lists of the same user on different instances').to.equal(1);
        expect(shown[0]!, 'plants').to.be.above(before);
        expectGoals(
          { what: 'failures', is: groups['distinct']!.failures, atMost: 0 },
          // Overload passes a few on to another instance.
          {
            what: 'users in memory',
            is: sum(inMemory),
            atMost: USERS.length * (count > 1 ? 1 + count / 2 : 1),
          },
          // An instance more makes no request more expensive.
          {
            what: 'processor time of a request, to that with one instance',
            is: cost / costs[0]!,
            atMost: 1.3,
          },
          {
            what: 'the fewest users of an instance',
            is: Math.min(...inMemory),
            atLeast: USERS.length / count / 4,
          },
          // Each conflict costs another call of the store, so the deadline may pass on a busy machine.
          { what: 'share of failures of the hot user', is: failed / requests, atMost: 0.01 },
        );
      });
    }

    // Each instance has little of a core, so that the two cores of a small machine are enough for all of them, the
    // proxy, Redis and the load.
    if (LONG) {
      it('serve as many times the requests of distinct users as there are instances', async function () {
        this.timeout(240_000);
        const perSecond: number[] = [];
        const failures: number[] = [];
        for (const count of COUNTS) {
          const users = userNames('user', count * USERS.length);
          const instances = await startInstances(count, users);
          const url = await startProxy(instances);
          await play(url, count * WARM_UP_MS, [{ ...WORK, name: 'warm up', users }]);
          for (const { pid } of instances) {
            const share = ProcessorShare.create(SHARE);
            if (share === undefined) this.skip();
            shares.push(share);
            share.add(pid);
          }
          const { groups } = await play(url, PLAYED_MS, [{ ...WORK, name: 'distinct', users }]);
          failures.push(groups['distinct']!.failures);
          perSecond.push(Math.round((groups['distinct']!.succeeded.count * 1000) / PLAYED_MS));
          await Promise.all(instances.map((instance) => instance.kill()));
          await haproxy!.stop();
        }
        report(
          `Instances with ${SHARE} of a core each on ${name}`,
          COUNTS.map((count, index) => ({
            instances: count,
            'requests a second': perSecond[index],
            failures: failures[index],
          })),
        );
        expectGoals(
          ...COUNTS.map((count, index) => ({
            what: `requests a second of ${count} instances, to those of one`,
            is: perSecond[index]! / perSecond[0]!,
            atLeast: 0.6 * count,
          })),
        );
      });
    }
  });
}

function usersInMemory(instance: ServiceProcess): Promise<number> {
  return metricOf(instance.url, 'plant_store_collections');
}

/** Processor time of all instances so far. */
async function cpuSeconds(instances: readonly ServiceProcess[]): Promise<number> {
  const each = instances.map(({ url }) => metricOf(url, 'process_cpu_seconds_total'));
  return (await Promise.all(each)).reduce((sum, seconds) => sum + seconds, 0);
}

async function plantsOf({ url }: ServiceProcess): Promise<number> {
  const answer = await fetch(`${url}/plants`, { headers: { Authorization: `Bearer ${tokenOf(HOT)}` } });
  return ((await answer.json()) as unknown[]).length;
}
