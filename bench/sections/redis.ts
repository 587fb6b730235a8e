/** Compares the service on a Redis that syncs every write with the service in memory, in turns. */
import { startDurableRedis } from '../../scripts/durable-redis';
import { type Pairs, cpuRatio, perSecond, rateRatio, poolRounds } from '../compare';
import { plantStore } from '../contestants';
import { pinned } from '../machine';
import { measure } from '../measure';
import type { Conditions } from '../session';
import { ratiosTable } from '../table';

interface Trips {
  readonly rounds: number;
  readonly requests: number;
  readonly events: number;
  readonly appends: number;
}

export async function redis(conditions: Conditions, rounds: number): Promise<string> {
  const compared: Pairs[] = [];
  const trips: Trips[] = [];
  for (let round = 1; round <= rounds; round++) {
    const server = await startDurableRedis((command) => pinned(conditions.placement.redis, command).flat());
    const env = { LOG_LEVEL: 'warn' };
    const inMemory = plantStore('memory', '', env);
    const onRedis = plantStore('redis', '', { ...env, EVENT_STORE: 'redis', REDIS_URL: server.url });
    try {
      const pairs = await measure(onRedis, inMemory, conditions, async (url) => {
        trips.push(tripsOf(await (await fetch(`${url}/metrics`)).text()));
      });
      compared.push(pairs);
      console.log(`redis, round ${round}: POST ${perSecond(pairs.POST.at(-1)!.own).toFixed(0)}/s`);
    } finally {
      await server.stop();
    }
  }
  const table = ratiosTable('on Redis, to in memory', poolRounds(compared), {
    'requests a second': rateRatio,
    processor: cpuRatio,
    p99: ({ own, other }) => own.p99Ms / other.p99Ms,
  });
  const { redisHasOwnCore, server } = conditions.placement;
  const where =
    server === undefined
      ? 'Nothing was pinned.'
      : `Redis ${redisHasOwnCore ? 'had a core of its own' : 'shared a core with the load'}.`;
  const sum = (pick: (trip: Trips) => number) => trips.reduce((total, trip) => total + pick(trip), 0);
  const perRound = sum((trip) => trip.requests) / sum((trip) => trip.rounds);
  const perAppend = sum((trip) => trip.events) / sum((trip) => trip.appends);
  return [
    table,
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
