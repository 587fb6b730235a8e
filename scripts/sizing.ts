// Measures what plants and users take, in Redis, on its disk and in an instance: the table in docs/runbooks/sizing.md.
// Needs a redis-server on the PATH, and takes about three minutes.
//
// Usage: npx ts-node scripts/sizing.ts [peak]
import { readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { openStore, plantsOver } from '../test/adapters/redis/open-store';
import { newPlant, plantId } from '../test/support/given';
import { residentBytes, startService } from '../test/world/load/service';
import { HttpClient } from '../test/support/client';
import { disconnect, plainClient } from '../test/support/redis/server';
import { parseUser } from '../src/application';
import { startDurableRedis } from './durable-redis';

/** The name has 12 characters, the tag 6. */
const plantOf = (number: number) =>
  newPlant(plantId(number), `Fern ${String(number).padStart(7, '0')}`, 'indoor');

const inMib = (bytes: number) => `${Math.round(bytes / 2 ** 20)} MiB`;

interface Setup {
  readonly title: string;
  readonly users: number;
  /** Plants of each user; each is created by an append of its own. */
  readonly plants: number;
}

const SETUPS: readonly Setup[] = [
  { title: '2,000 users with 1 plant each', users: 2000, plants: 1 },
  { title: '500 users with 100 plants each', users: 500, plants: 100 },
  { title: '1 user with 100,000 plants', users: 1, plants: 100_000 },
];

async function measure({ title, users, plants }: Setup): Promise<string> {
  const redis = await startDurableRedis();
  const admin = plainClient(redis.url);
  await admin.connect();
  const bytesOf = async (section: string, name: string) =>
    Number(new RegExp(`${name}:(\\d+)`).exec(await admin.info(section))![1]);
  const inRedis = () => bytesOf('memory', 'used_memory');
  const onDisk = () => bytesOf('persistence', 'aof_current_size');
  const names = Array.from({ length: users }, (_, user) => `user${user}`);
  const [emptyRedis, emptyDisk] = [await inRedis(), await onDisk()];

  const { store, close } = await openStore(redis.url);
  const writer = plantsOver(store);
  const writers = Math.min(users, 100);
  // Without concurrency, the events of one user would be appended one per round trip.
  const chunk = users === 1 ? 1000 : 1;
  for (let from = 0; from < plants; from += chunk) {
    for (let first = 0; first < users; first += writers) {
      const some = names.slice(first, first + writers).map((name) => parseUser(name)!);
      const ids = Array.from({ length: chunk }, (_, index) => from + index);
      await Promise.all(some.flatMap((user) => ids.map((id) => writer.create(user, plantOf(id)))));
    }
  }
  await close();
  await pause(500);
  const events = users * plants;
  const redisPerEvent = ((await inRedis()) - emptyRedis) / events;
  const diskPerEvent = ((await onDisk()) - emptyDisk) / events;

  const service = await startService(redis.url, names, {
    NODE_OPTIONS: '--max-old-space-size=1024',
    LOG_LEVEL: 'warn',
  });
  const metric = async (name: string) => {
    const text = await (await fetch(`${service.url}/metrics`)).text();
    return Number(new RegExp(`^${name} (.*)$`, 'm').exec(text)![1]);
  };
  const idle = residentBytes(service.pid);
  for (let first = 0; first < users; first += 50) {
    await Promise.all(
      names.slice(first, first + 50).map(async (name) => {
        while ((await new HttpClient(service.url, name).get('/plants?limit=1')).status !== 200)
          await pause(100);
      }),
    );
  }
  const loaded = residentBytes(service.pid);
  const estimate = await metric('plant_store_cache_bytes');
  await service.kill();
  disconnect(admin);
  await redis.stop();

  const cells = [
    title,
    `${Math.round(redisPerEvent)} B`,
    `${Math.round(diskPerEvent)} B`,
    `${Math.round(estimate / events)} B`,
    `${Math.round((loaded - idle) / events)} B`,
    `${inMib(idle)} → ${inMib(loaded)}`,
  ];
  return `| ${cells.join(' | ')} |`;
}

const HEAP_MIB = 256;

/** The peak of an instance whose cache is nearly full, while 20 clients list all plants of 10 users. */
async function peak(): Promise<string> {
  const redis = await startDurableRedis();
  const names = Array.from({ length: 10 }, (_, user) => `user${user}`);
  const { store, close } = await openStore(redis.url);
  const writer = plantsOver(store);
  for (let from = 0; from < 60_000; from += 500) {
    const ids = Array.from({ length: 500 }, (_, index) => from + index);
    const users = names.map((name) => parseUser(name)!);
    await Promise.all(users.flatMap((user) => ids.map((id) => writer.create(user, plantOf(id)))));
  }
  await close();
  const heap = { NODE_OPTIONS: `--max-old-space-size=${HEAP_MIB}` };
  const service = await startService(redis.url, names, { ...heap, LOG_LEVEL: 'warn' });
  const until = performance.now() + 20_000;
  const listing = names.flatMap((name) => [1, 2].map(() => new HttpClient(service.url, name)));
  await Promise.all(
    listing.map(async (client) => {
      // At least three lists each, however slow the machine is.
      let lists = 0;
      while (service.running && (lists < 3 || performance.now() < until)) {
        // On a busy machine this process may read so slowly that the service closes the connection.
        const answer = await client.list().catch(() => undefined);
        if (answer?.status === 200) lists++;
      }
    }),
  );
  const text = await (await fetch(`${service.url}/metrics`)).text();
  const cached = Number(/^plant_store_cache_bytes (.*)$/m.exec(text)![1]);
  const [, kib] = /VmHWM:\s*(\d+)/.exec(readFileSync(`/proc/${service.pid}/status`, 'utf8'))!;
  await service.kill();
  await redis.stop();
  return `heap limit ${HEAP_MIB} MiB, cache ${inMib(cached)}: ${inMib(1024 * Number(kib))} at most`;
}

async function main(): Promise<void> {
  if (process.argv[2] !== 'peak') {
    console.log(
      '| | Redis per event | append-only file per event | cache per plant | process per plant | process |',
    );
    console.log('| --- | --- | --- | --- | --- | --- |');
    for (const setup of SETUPS) console.log(await measure(setup));
  }
  console.log(await peak());
}

void main();
