/** What it costs to keep the events in a Redis that syncs every write: the same service, in memory and on Redis, in turns. */
import { startDurableRedis } from '../../scripts/durable-redis';
import { ours } from '../contestants';
import { pinned } from '../machine';
import { measure } from '../measure';
import type { Conditions, Figure, Figures } from '../session';
import { spread } from '../statistics';
import { METHODS, cpuRatio, markdown, ratioText } from '../table';

interface Trips {
  readonly rounds: number;
  readonly requests: number;
  readonly events: number;
  readonly appends: number;
}

export async function redis(conditions: Conditions, rounds: number): Promise<string> {
  const pairs: { memory: Figures; redis: Figures }[] = [];
  const trips: Trips[] = [];
  for (let round = 1; round <= rounds; round++) {
    const memory = await measure(ours('memory', '', { LOG_LEVEL: 'warn' }), conditions);
    const server = await startDurableRedis((command) => pinned(conditions.placement.redis, command).flat());
    try {
      const env = { LOG_LEVEL: 'warn', EVENT_STORE: 'redis', REDIS_URL: server.url };
      const onRedis = await measure(ours('redis', '', env), conditions, async (url) => {
        trips.push(tripsOf(await (await fetch(`${url}/metrics`)).text()));
      });
      pairs.push({ memory, redis: onRedis });
      console.log(`redis, round ${round}: POST ${onRedis.POST.perSecond.toFixed(0)}/s`);
    } finally {
      await server.stop();
    }
  }
  const rows = METHODS.map((method) => {
    const compared = (compare: (redis: Figure, memory: Figure) => number | undefined) => {
      const ratios = pairs.map(({ memory, redis }) => compare(redis[method], memory[method]));
      const known = ratios.filter((ratio) => ratio !== undefined);
      return known.length > 0 ? ratioText(spread(known), rounds) : '–';
    };
    return [
      method,
      compared((redis, memory) => redis.perSecond / memory.perSecond),
      compared(cpuRatio),
      compared((redis, memory) => redis.p99Ms / memory.p99Ms),
    ];
  });
  const { redisHasItsOwn, server } = conditions.placement;
  const where =
    server === undefined
      ? 'Nothing was pinned.'
      : `Redis ${redisHasItsOwn ? 'had a core of its own' : 'shared a core with the load: on more cores it does better'}.`;
  const sum = (pick: (trip: Trips) => number) => trips.reduce((total, trip) => total + pick(trip), 0);
  const perRound = sum((trip) => trip.requests) / sum((trip) => trip.rounds);
  const perAppend = sum((trip) => trip.events) / sum((trip) => trip.appends);
  return [
    markdown(['on Redis, to in memory', 'requests a second', 'processor', 'p99'], rows),
    '',
    `${where} ${perRound.toFixed(1)} requests shared a round, ${perAppend.toFixed(1)} events an append.`,
  ].join('\n');
}

/** From the text of /metrics. */
export function tripsOf(metrics: string): Trips {
  const sumOf = (pattern: RegExp) => {
    const values = [...metrics.matchAll(pattern)].map(([, value]) => Number(value));
    if (values.length === 0) throw new Error(`/metrics has no ${pattern.source}`);
    return values.reduce((total, value) => total + value, 0);
  };
  return {
    rounds: sumOf(/^plant_store_rounds_total (\S+)$/gm),
    requests: sumOf(/^plant_store_round_requests_sum (\S+)$/gm),
    events: sumOf(/^plant_store_appended_events_total (\S+)$/gm),
    appends: sumOf(
      /^plant_store_event_store_duration_seconds_count\{[^}]*operation="append"[^}]*\} (\S+)$/gm,
    ),
  };
}
