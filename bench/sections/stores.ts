/** Measures the event stores without HTTP: appends beside raw XADD on the same disk, and replays. */
import { Redis } from 'ioredis';
import { startDurableRedis } from '../../scripts/durable-redis';
import { MemoryEventStore } from '../../src/adapters/memory';
import { openRedisEventStore } from '../../src/adapters/redis';
import { system } from '../../src/adapters/system';
import { PlantStore, parseUser, plantCodec, plantsOf } from '../../src/application';
import { type NewPlant, parsePlantId } from '../../src/domain';
import { BEGINNING, type EncodedEvent, type EventStore, type Head } from '../../src/event-sourcing';
import { pinned } from '../machine';
import type { Section } from '../report';
import { profiler } from '../servers/profiler';
import type { Conditions } from '../session';
import { median, spread } from '../statistics';
import { markdown, ratioText, thousands } from '../table';
import { OTHERS, partsOf, partsTable } from './profile';

/** Of a replay. */
const PARTS = {
  'list of plants (`src/domain`)': /\/src\/domain\//,
  'codec of events, with `JSON.parse`': /\/src\/(application\/|event-sourcing\/(json-)?codec\.)/,
  'engine (`src/event-sourcing`)': /\/src\/event-sourcing\//,
  'adapter of the store': /\/src\/adapters\//,
  'ioredis, and Node': /node_modules\/|^node:/,
  ...OTHERS,
};

/** Appends in flight, each of another stream. */
const STREAMS = 64;
const REPLAYED = 300_000;
const REPLAYS = 3;
const USER = parseUser('gardener')!;
const PLANT = { name: 'Monstera deliciosa', tag: 'indoor' } as const satisfies NewPlant['members'];

export async function stores(
  { placement, slices, seconds }: Conditions,
  events = REPLAYED,
): Promise<Section> {
  const redis = await startDurableRedis((command) => pinned(placement.redis, command).flat());
  const opened = await openRedisEventStore({ url: redis.url });
  const raw = new Redis(redis.url);
  try {
    const appends = appender(opened.store);
    const entries = async (turn: number) => {
      const pipeline = raw.pipeline();
      const { type, data } = eventOf(turn);
      for (let stream = 0; stream < STREAMS; stream++)
        pipeline.xadd(`raw:${stream}`, '*', 'type', type, 'data', data, 'commit', `a commit ${turn}`);
      await pipeline.exec();
    };
    const shares: number[] = [];
    for (let slice = 0; slice < 2 * slices; slice++) {
      const [first, second] = slice % 2 === 0 ? [appends, entries] : [entries, appends];
      const [one, two] = [await perSecond(first, seconds), await perSecond(second, seconds)];
      shares.push(slice % 2 === 0 ? one / two : two / one);
    }
    await fill(opened.store, events);
    const memory = new MemoryEventStore();
    await fill(memory, events);
    const replays = [await replayed(opened.store, events), await replayed(memory, events)];
    const [fromRedis, inMemory] = replays.map(({ aSecond }) => thousands(aSecond));
    const rows = [
      ['appends to Redis, as a share of raw XADD', ratioText(spread(shares))],
      ['events replayed from Redis, a second of processor time', fromRedis!],
      ['events replayed in memory, a second of processor time', inMemory!],
    ];
    const tables = [
      markdown(['the stores alone', 'figure'], rows),
      partsTable(
        ['µs of processor for an event', 'from Redis', 'in memory'],
        PARTS,
        replays.map(({ parts }) => parts),
      ),
    ];
    return { text: tables.join('\n\n') };
  } finally {
    opened.close();
    raw.disconnect();
    await redis.stop();
  }
}

function eventOf(id: number): EncodedEvent {
  return plantCodec.encode({ type: 'PlantCreated', id: parsePlantId(String(id))!, plant: PLANT });
}

/** Appends one event to each stream, all at once. */
function appender(store: EventStore): (turn: number) => Promise<void> {
  const heads = Array.from({ length: STREAMS }, (): Head => BEGINNING);
  return async (turn) => {
    const appended = heads.map(async (head, stream) => {
      const result = await store.append(plantsOf(parseUser(`user${stream}`)!), head, `a commit ${turn}`, [
        eventOf(turn),
      ]);
      if (result.status !== 'appended') throw new Error(`an append resulted in ${result.status}`);
      heads[stream] = result.head;
    });
    await Promise.all(appended);
  };
}

let turns = 0;

/** How often `work` is done in a second, one after the other. */
async function perSecond(work: (turn: number) => Promise<void>, seconds: number): Promise<number> {
  const began = performance.now();
  let count = 0;
  for (; performance.now() - began < seconds * 1000; count++) await work(++turns);
  return (1000 * count) / (performance.now() - began);
}

async function fill(store: EventStore, events: number): Promise<void> {
  let head = BEGINNING;
  while (head.version < events) {
    const ids = Array.from(
      { length: Math.min(500, events - head.version) },
      (_, index) => head.version + 1 + index,
    );
    const result = await store.append(plantsOf(USER), head, `commit ${head.version}`, ids.map(eventOf));
    if (result.status !== 'appended') throw new Error(`an append resulted in ${result.status}`);
    head = result.head;
  }
}

/** Events replayed in a second of processor time, by instances without a snapshot, and of what the time consists. */
async function replayed(
  store: EventStore,
  events: number,
): Promise<{ readonly aSecond: number; readonly parts: ReadonlyMap<string, number> }> {
  const rates: number[] = [];
  for (let replay = 0; replay < REPLAYS; replay++)
    rates.push((events * 1e6) / (await replayOnce(store, events)));
  const aSecond = median(rates);
  const { begin, end } = profiler();
  await begin();
  await replayOnce(store, events);
  return { aSecond, parts: partsOf(await end(), 1e6 / aSecond, PARTS) };
}

/** The processor time of a replay, in µs. */
async function replayOnce(store: EventStore, events: number): Promise<number> {
  const plants = new PlantStore({ ...system(), store, timeoutMs: 60_000 });
  const before = process.cpuUsage();
  const version = await plants.list(USER, { limit: 1 }, ({ head }) => head.version);
  const { user, system: kernel } = process.cpuUsage(before);
  if (version !== events) throw new Error(`${version} of ${events} events were replayed`);
  return user + kernel;
}
