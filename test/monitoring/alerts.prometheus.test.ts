import { readFileSync, writeFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'chai';
import { type OpenRedisEventStore, openRedisEventStore } from '../../src/adapters/redis';
import { system } from '../../src/adapters/system';
import { plantCodec } from '../../src/application';
import type { PlantEvent } from '../../src/domain';
import {
  type EventStore,
  type Head,
  type Projection,
  type StreamName,
  atLeastOnce,
  project,
} from '../../src/event-sourcing';
import { HttpClient } from '../support/client';
import { patient } from '../support/patience';
import { describePrograms } from '../support/programs';
import { type RedisServer, describeOwnRedis } from '../support/redis';
import { SlowStore } from '../support/slow-store';
import { temporaryDirectory } from '../support/temporary-directory';
import { tokenOf } from '../support/token';
import { writeTokenFile } from '../support/token-file';
import { until } from '../support/until';
import { type WatchedService, startWatched } from '../support/watched-service';
import { Prometheus } from './prometheus';
import { RULES, alerts, panelQueries } from './rules';
import { keyOf } from '../support/keys';

/** By program: the package of Debian that has it. */
const PROMETHEUS = { prometheus: 'prometheus' };
const USERS = ['lost', 'odd', 'large', 'long', 'usual'];
const GUESTS = ['bug', ...Array.from({ length: 12 }, (_, number) => `guest${number}`)];

/** They need an orchestrator or an exporter: rules.promtool.test.ts tests them. */
const WITHOUT_FAULT = [
  'PlantStoreRestarts',
  'PlantStoreInstanceMissing',
  'PlantStoreRedisMemory',
  'PlantStoreRedisDisk',
];

/** Minutes of the rules, and the seconds that replace them in this test. */
const SECONDS: Readonly<Record<string, number>> = { '15m': 8, '5m': 6, '2m': 3, '1m': 1 };
const SCRAPES_EVERY_SECONDS = 1;

/** In memory: slow while a test says so, and with a bug for one user. */
class UnavailableStore extends SlowStore implements EventStore {
  override async read(stream: StreamName, after: Head) {
    if (String(stream) === 'plants/bug') throw new TypeError('undefined is not a plant');
    return super.read(stream, after);
  }
}

/** A fault, and the alerts that it causes. */
interface AlertFault {
  readonly alerts: readonly string[];
  /** Causes it. */
  begin(): Promise<unknown>;
  /** Each is called again and again, independently of the others, until all alerts fire. */
  readonly during?: readonly (() => Promise<unknown>)[];
  end?(): Promise<unknown>;
}

describePrograms(PROMETHEUS, 'The alerts, in a Prometheus that scrapes three instances', () => {
  describeOwnRedis('of which two are on Redis', (startRedis) => {
    const path = temporaryDirectory();
    let redis: RedisServer;
    let store: UnavailableStore;
    let services: WatchedService[];
    let prometheus: Prometheus;
    let usual: Promise<void>;
    let reader: OpenRedisEventStore | undefined;
    let projection: Projection<PlantEvent> | undefined;
    /** Whether the projection can apply the events of the usual user. */
    let applies: boolean;
    let stopped: boolean;

    beforeEach(async function () {
      this.timeout(120_000);
      redis = await startRedis('--appendonly', 'yes', '--appendfsync', 'always');
      store = new UnavailableStore();
      writeTokenFile(path('tokens.json'), GUESTS);
      const onRedis = {
        EVENT_STORE: 'redis',
        REDIS_URL: redis.url,
        AUTH_TOKENS: USERS.map((user) => `${user}:${tokenOf(user)}`).join(),
        STORE_TIMEOUT_MS: '400',
        SNAPSHOT_EVERY: '50',
        CACHE_MAX_BYTES: String(2 ** 20),
      };
      const guests = {
        AUTH_TOKENS: '',
        AUTH_TOKENS_FILE: path('tokens.json'),
        MAX_USER_REQUESTS: '2',
        CACHE_MAX_PLANTS: '0',
      };
      const common = { ADMIN_PORT: '0', LOG_LEVEL: 'info' };
      services = [
        await startWatched({ ...common, ...onRedis }),
        await startWatched({ ...common, ...onRedis }),
        await startWatched({ ...common, ...guests }, { eventStore: store }),
      ];
      prometheus = await Prometheus.start({
        directory: path('prometheus'),
        config: config(),
        rules: shortened(),
      });
      stopped = applies = false;
      usual = serveUsers();
      await until(async () => (await prometheus.query('up == 1')).length === services.length);
    });
    afterEach(async function () {
      this.timeout(60_000);
      stopped = true;
      await usual;
      await projection?.close();
      reader?.close();
      await Promise.all(services.map((service) => service.stop()));
      await prometheus.stop();
    });

    const client = (instance: number, user: string) => new HttpClient(services[instance]!.url, user);

    /** deploy/prometheus/prometheus.yaml with these instances and short intervals. */
    function config(): string {
      const targets = services.map(({ adminUrl }) => `'${new URL(adminUrl!).host}'`);
      return readFileSync('deploy/prometheus/prometheus.yaml', 'utf8')
        .replaceAll(/_(interval|timeout): \d+s/g, `_$1: ${SCRAPES_EVERY_SECONDS}s`)
        .replace(/dns_sd_configs:[^]*$/, `static_configs: [{ targets: [${targets.join()}] }]\n`);
    }

    function shortened(): string {
      const seconds = (minutes: string) => `${SECONDS[minutes]!}s`;
      return readFileSync(RULES, 'utf8')
        .replaceAll(/\[(\d+m)\]/g, (_, minutes: string) => `[${seconds(minutes)}]`)
        .replaceAll(/for: (\d+m)/g, (_, minutes: string) => `for: ${seconds(minutes)}`);
    }

    /** Requests of a user that no fault but that of Redis affects. */
    async function serveUsers(): Promise<void> {
      while (!stopped) {
        await Promise.all([0, 1].map((instance) => client(instance, 'usual').list()));
        await pause(20);
      }
    }

    const faults = (): readonly AlertFault[] => [
      {
        alerts: ['PlantStoreLostHistory'],
        async begin() {
          await client(0, 'lost').plants([1, 'Fern']);
          await redis.admin.del(keyOf('lost'));
          await client(0, 'lost').list();
        },
      },
      {
        alerts: ['PlantStoreUnreadableHistory'],
        async begin() {
          await client(0, 'odd').plants([1, 'Fern']);
          await redis.admin.xadd(keyOf('odd'), '2-0', 'of', 'another program');
          expect((await client(0, 'odd').list()).status).to.equal(503);
        },
      },
      {
        alerts: ['PlantStoreBug'],
        begin: async () => expect((await client(2, 'bug').list()).status).to.equal(500),
      },
      {
        alerts: ['PlantStoreSnapshots'],
        async begin() {
          // More than a page has.
          const ids = Array.from({ length: 600 }, (_, id) => id);
          await Promise.all(ids.map((id) => client(0, 'long').create(id, 'Fern')));
          await client(0, 'long').create(600, 'Fern');
          const key = keyOf('long', 'plant-store', 'snapshot');
          await until(async () => (await redis.admin.exists(key)) === 1);
          await redis.admin.hset(key, 'checksum', 'of another snapshot');
          expect((await client(1, 'long').list()).status).to.equal(200);
        },
      },
      {
        alerts: ['PlantStoreTooLarge'],
        async begin() {
          for (let id = 0; id < 30; id++) await client(0, 'large').create(id, 'x'.repeat(60_000));
        },
      },
      {
        alerts: ['PlantStoreAuthSource'],
        begin: async () => writeFileSync(path('tokens.json'), '{'),
        end: async () => writeTokenFile(path('tokens.json'), GUESTS),
      },
      {
        // Loads take longer than the time between two scrapes, and there are more than are begun together.
        alerts: ['PlantStoreSlow', 'PlantStoreLoadsWaiting', 'PlantStoreLimit'],
        begin: async () => (store.delayMs = 1500),
        during: GUESTS.slice(1).map(
          (guest) => () => Promise.all([1, 2, 3].map(() => client(2, guest).list())),
        ),
        end: async () => (store.delayMs = 0),
      },
      {
        alerts: ['PlantStoreFinding', 'PlantStoreWritesRefused'],
        begin: () => redis.admin.config('SET', 'maxmemory', '1'),
        during: [() => client(0, 'usual').create(1, 'Fern')],
        end: () => redis.admin.config('SET', 'maxmemory', '0'),
      },
    ];
    const freeze: AlertFault = {
      alerts: ['PlantStoreErrors', 'PlantStoreNotReady'],
      begin: () => redis.freeze(),
      end: () => redis.thaw(),
    };
    const projected: AlertFault = {
      alerts: ['PlantStoreProjectionStopped', 'PlantStoreProjectionBehind'],
      async begin() {
        reader = await openRedisEventStore({ url: redis.url });
        projection = project(reader, {
          ...system(),
          codec: plantCodec,
          // Streams of other faults cannot be read.
          follows: (stream) => stream === 'plants/usual',
          leases: { store: reader.leases, projection: 'tags', instance: 'one', takeOverMs: 1000 },
          ...atLeastOnce(reader.checkpoints('tags'), (slices) => {
            if (!applies && slices.length > 0) throw new Error('no tag');
          }),
        });
        await client(0, 'usual').create(2, 'Fern');
      },
      async end() {
        applies = true;
        projection!.retry();
      },
    };
    const strangers: AlertFault = {
      alerts: ['PlantStoreUnauthorized'],
      begin: async () => expect((await client(0, 'stranger').list()).status).to.equal(401),
      during: Array.from({ length: 10 }, () => () => client(0, 'stranger').list()),
    };

    /** How long an alert takes to fire, by the rules and the intervals, in milliseconds of this test. */
    function timeToFire(name: string): number {
      const { expr, for: holds } = alerts().find(({ alert }) => alert === name)!;
      const window = /rate\(/.test(expr) ? SECONDS['5m']! : 0;
      const held = holds === undefined ? 0 : SECONDS[holds]!;
      return 1000 * (window + held + 3 * SCRAPES_EVERY_SECONDS);
    }

    /** Begins and ends a fault; its alerts fire in time and clear. */
    async function causes(fault: AlertFault): Promise<void> {
      const since = performance.now();
      const over = new AbortController();
      const during = (fault.during ?? []).map(async (again) => {
        while (!over.signal.aborted) await Promise.all([again(), pause(20)]);
      });
      try {
        const fires = async (alert: string) => {
          await until(async () => (await prometheus.firing()).has(alert)).catch(() =>
            expect.fail(`${alert} does not fire`),
          );
          const seconds = (performance.now() - since) / 1000;
          console.log(`    ${alert} fires after ${seconds.toFixed(1)} s`);
          expect(1000 * seconds, alert).to.be.below(patient(timeToFire(alert)) + 1000);
        };
        await Promise.all(fault.alerts.map(fires));
      } finally {
        over.abort();
        await Promise.all(during);
        await fault.end?.();
      }
      for (const alert of fault.alerts) {
        await until(async () => !(await prometheus.firing()).has(alert)).catch(() =>
          expect.fail(`${alert} does not clear`),
        );
      }
    }

    it('each fire in time and clear, and the dashboard shows every metric that it names', async function () {
      this.timeout(240_000);
      const all = [...faults(), projected, freeze, strangers];
      expect([...all.flatMap((fault) => fault.alerts), ...WITHOUT_FAULT]).to.have.members(
        alerts().map(({ alert }) => alert),
      );
      await pause(2000 * SCRAPES_EVERY_SECONDS);
      expect([...(await prometheus.firing())]).to.deep.equal([]);

      const caused: Promise<void>[] = [];
      for (const fault of faults()) {
        await fault.begin();
        caused.push(causes(fault));
      }
      const failed = (await Promise.allSettled(caused)).find(({ status }) => status === 'rejected');
      if (failed !== undefined) throw (failed as PromiseRejectedResult).reason;
      await until(async () => (await prometheus.firing()).size === 0);
      for (const fault of [projected, freeze, strangers]) {
        await fault.begin();
        await causes(fault);
      }

      const names = new Set(await prometheus.names());
      for (const query of panelQueries().filter((expr) => !/\b(?:redis|node)_/.test(expr))) {
        for (const [name] of query.matchAll(/\b(?:http|plant_store|nodejs|process)_\w+/g))
          expect(names.has(name), name).to.equal(true);
        expect(await prometheus.query(query), query).not.to.deep.equal([]);
      }
    });
  });
});
