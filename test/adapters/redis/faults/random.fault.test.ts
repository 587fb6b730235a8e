import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'chai';
import type { Instance } from '../../../support/instance';
import { randomFrom } from '../../../support/random';
import { type RedisServer, describeOwnRedis, disconnect } from '../../../support/redis';
import { TcpProxy } from '../../../support/tcp-proxy';
import { allServeInTime, tally, underLoad } from './under-load';

const SEED = Number(process.env.SEED ?? Date.now() % 2 ** 31);
const RUN_MS = process.env.LONG ? 20_000 : 1500;

describeOwnRedis('A random sequence of faults', (startRedis) => {
  for (const replicas of [0, 1]) {
    it(`violates no guarantee, with REDIS_WAIT_REPLICAS=${replicas}`, async function () {
      this.timeout(120_000);
      const durably = ['--appendonly', 'yes', '--appendfsync', 'always'];
      const redis = await startRedis(...durably, '--busy-reply-threshold', '50');
      const replica = replicas > 0 ? await startRedis('--replicaof', ...redis.peer) : undefined;
      const proxy = await TcpProxy.to({ host: redis.host, port: redis.port });
      const random = randomFrom(SEED);
      const faults = faultsOf(redis, replica, proxy, random);
      const done: string[] = [];

      const happen = async (instances: readonly Instance[]) => {
        const end = performance.now() + RUN_MS;
        while (performance.now() < end) {
          await pause(300 * random());
          const [name, fault] = faults[Math.floor(random() * faults.length)]!;
          done.push(name);
          await fault();
          // Sometimes the next fault starts before the service has recovered.
          if (random() < 0.6) await allServeInTime(instances, `(seed ${SEED}, after ${name})`);
        }
        await allServeInTime(instances);
      };
      try {
        const operations = await underLoad(
          {
            redis,
            redisUrl: `redis://127.0.0.1:${proxy.port}`,
            // Each request of another user loads it again, from a snapshot if there is one.
            environment: {
              REDIS_WAIT_REPLICAS: String(replicas),
              SNAPSHOT_EVERY: '50',
              CACHE_MAX_PLANTS: '0',
            },
            seed: SEED,
          },
          happen,
        );
        if (process.env.LONG) console.log({ seed: SEED, faults: done.length, answers: tally(operations) });
        expect(operations.filter(({ response }) => response.status < 300)).to.have.length.above(done.length);
      } finally {
        await proxy.close();
      }
    });
  }
});

type Fault = readonly [name: string, happen: () => Promise<void>];

/** Each fault ends when its promise resolves; the service must then recover. */
function faultsOf(
  redis: RedisServer,
  replica: RedisServer | undefined,
  proxy: TcpProxy,
  random: () => number,
): readonly Fault[] {
  const aWhile = () => pause(20 + 1200 * random() ** 2);
  const isAppend = (bytes: Buffer) => bytes.includes('Plant');
  /** A fault that lasts. */
  const between = (name: string, begin: () => unknown, end: () => unknown): Fault => [
    name,
    async () => {
      await begin();
      await aWhile();
      await end();
    },
  ];
  const onTheWay = (name: string, begin: () => unknown) => between(name, begin, () => proxy.heal());
  const config = (name: string, value: string) => redis.admin.config('SET', name, value);

  const faults: Fault[] = [
    between(
      'kill',
      () => redis.kill9(),
      () => redis.start(),
    ),
    between(
      'freeze',
      () => redis.freeze(),
      () => redis.thaw(),
    ),
    between(
      'out of memory',
      () => config('maxmemory', '1'),
      () => config('maxmemory', '0'),
    ),
    between(
      'busy',
      () => keepBusy(redis),
      () => redis.admin.script('KILL'),
    ),
    between(
      'forget the script',
      () => redis.admin.script('FLUSH'),
      () => {},
    ),
    onTheWay('cut', () => proxy.cut()),
    onTheWay('blackhole', () => proxy.blackhole()),
    onTheWay('slow network', () => (proxy.delayMs = 100 * random())),
    // Not awaited: there may be no append to interrupt.
    onTheWay('lose a reply and cut', () => void proxy.loseReply(isAppend, 'cut')),
    onTheWay('lose a reply, silently', () => void proxy.loseReply(isAppend, 'left open')),
    onTheWay('cut a request', () => void proxy.cutRequest(isAppend, 200 * random())),
  ];
  if (replica === undefined) return faults;
  return [
    ...faults,
    between(
      'freeze the replica',
      () => replica.freeze(),
      () => replica.thaw(),
    ),
    between(
      'kill the replica',
      () => replica.kill9(),
      () => replica.start(),
    ),
  ];
}

async function keepBusy(redis: RedisServer): Promise<void> {
  const client = redis.admin.duplicate();
  await client.connect();
  void client
    .eval('while true do end', 0)
    .catch(() => {})
    .finally(() => disconnect(client));
  // It could not be stopped earlier.
  await pause(100);
}
