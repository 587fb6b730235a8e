/**
 * Measures how long a projection takes to catch up with many streams of one event each: from the feed, and from the
 * streams if the feed does not reach back. Then how long after its acknowledgement a commit is applied. For the time of
 * one core:
 *
 *     taskset -c 0 npx ts-node scripts/catch-up.ts 1000000
 */
import { setTimeout as delay } from 'node:timers/promises';
import { MemoryCheckpoints } from '../src/adapters/memory';
import { openRedisEventStore } from '../src/adapters/redis';
import { system } from '../src/adapters/system';
import {
  BEGINNING,
  type OpenEventStore,
  type ProjectedStore,
  project,
  streamOf,
} from '../src/event-sourcing';
import { note, textCodec } from '../test/event-sourcing/one-projection';
import { localRedis } from '../test/support/redis/local';

const WRITERS = 256;
/** To be followed: commits a second, and of how many seconds. */
const [RATE, SECONDS, FOLLOWED] = [1000, 20, 64];

async function main(streams: number): Promise<void> {
  const source = await localRedis();
  if ('reason' in source) throw new Error(source.reason);
  const redis = await source.create([]);
  await redis.run();
  const url = `redis://${redis.host}:${redis.port}`;
  const opened = await openRedisEventStore({ url, timeoutMs: 60_000, feedLength: streams });
  try {
    const followed = new MemoryCheckpoints();
    await catchUp(opened, followed);
    let next = 0;
    const write = async () => {
      for (let index = next++; index < streams; index = next++)
        await opened.store.append(streamOf('notes', `user ${index}`), BEGINNING, `commit ${index}`, [
          note('an event'),
        ]);
    };
    await Promise.all(Array.from({ length: WRITERS }, write));
    console.log(`from the feed: ${await catchUp(opened, followed)}`);
    console.log(`from the streams: ${await catchUp(opened, new MemoryCheckpoints())}`);
    console.log(await follow(opened, followed));
  } finally {
    opened.close();
    await redis.remove();
  }
}

/** Resolves with the events that were applied, and the time that it took. */
async function catchUp(opened: ProjectedStore, checkpoints: MemoryCheckpoints): Promise<string> {
  const begin = performance.now();
  const cpu = process.cpuUsage();
  let events = 0;
  const projection = project<string>(opened, {
    ...system(),
    codec: textCodec,
    checkpoint: checkpoints,
    async apply({ slices, checkpoint }) {
      await checkpoints.save(checkpoint);
      for (const slice of slices) events += slice.events.length;
    },
  });
  await projection.caughtUp();
  const { user, system: ofSystem } = process.cpuUsage(cpu);
  await projection.close();
  const seconds = ((performance.now() - begin) / 1000).toFixed(1);
  return `${events} events in ${seconds} s, ${((user + ofSystem) / 1e6).toFixed(1)} s of processor time`;
}

/** Resolves with the times from the acknowledgements of commits to their `apply`. */
async function follow(opened: OpenEventStore, checkpoint: MemoryCheckpoints): Promise<string> {
  const acknowledged = new Map<string, number>();
  const times: number[] = [];
  const projection = project<string>(opened, {
    ...system(),
    codec: textCodec,
    checkpoint,
    async apply({ slices, checkpoint: write }) {
      await checkpoint.save(write);
      for (const { stream, events } of slices)
        for (const { version } of events) {
          // It may be applied first.
          times.push(performance.now() - (acknowledged.get(`${stream} ${version}`) ?? performance.now()));
        }
    },
  });
  await projection.caughtUp();
  const begin = performance.now();
  const write = async (_: unknown, writer: number) => {
    const stream = streamOf('notes', `writer ${writer}`);
    let head = BEGINNING;
    for (let number = writer; number < RATE * SECONDS; number += FOLLOWED) {
      await delay(begin + (1000 * number) / RATE - performance.now());
      const result = await opened.store.append(stream, head, `commit ${writer} ${number}`, [
        note('an event'),
      ]);
      if (result.status !== 'appended') throw new Error(result.status);
      head = result.head;
      acknowledged.set(`${stream} ${head.version}`, performance.now());
    }
  };
  await Promise.all(Array.from({ length: FOLLOWED }, write));
  const perSecond = (1000 * RATE * SECONDS) / (performance.now() - begin);
  await projection.caughtUp();
  await projection.close();
  times.sort((a, b) => a - b);
  const [half, most, last] = [0.5, 0.99, 1].map((part) =>
    times[Math.ceil(part * times.length) - 1]!.toFixed(1),
  );
  const rate = perSecond.toFixed(0);
  return `${times.length} commits, ${rate} a second: half applied within ${half} ms, 99 % within ${most}, all within ${last}`;
}

void main(Number(process.argv[2] ?? 100_000));
