/**
 * Measures how long a projection takes to catch up with many streams of one event each: from the feed, and from the
 * streams if the feed does not reach back. For the time of one core:
 *
 *     taskset -c 0 npx ts-node scripts/catch-up.ts 1000000
 */
import { MemoryCheckpoints } from '../src/adapters/memory';
import { openRedisEventStore } from '../src/adapters/redis';
import { system } from '../src/adapters/system';
import { BEGINNING, type ProjectedStore, project, streamOf } from '../src/event-sourcing';
import { note, textCodec } from '../test/event-sourcing/one-projection';
import { localRedis } from '../test/support/redis/local';

const WRITERS = 256;

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

void main(Number(process.argv[2] ?? 100_000));
