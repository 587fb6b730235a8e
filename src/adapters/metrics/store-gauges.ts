import { Counter, Gauge, type Registry } from 'prom-client';
import type { StoreStatus } from '../../event-sourcing';

/** The status of an event store on Redis. */
interface RedisLevels extends StoreStatus {
  /** By name, from a bounded set. */
  readonly findings: Readonly<Record<string, boolean>>;
  /** Appends without a reply, and how many were refused by the queue limit. */
  readonly appends: { readonly appends: number; readonly bytes: number; readonly refused: number };
  readonly appendBounds: { readonly appends: number; readonly bytes: number };
}

/** Registers gauges that read `levels` at each scrape. */
export function watchStore(levels: () => StoreStatus, registry: Registry): void {
  flags(
    registry,
    'event_store_available',
    'Whether the store answers reads and accepts appends: 1 or 0',
    'operation',
    () => {
      const { reads, writes } = levels();
      return { read: reads, append: writes };
    },
  );
  new Gauge({
    name: 'plant_store_event_store_info',
    help: '1; the label is the id of the store, if it has one',
    labelNames: ['id'],
    registers: [registry],
    collect() {
      this.reset();
      const { id } = levels();
      if (id !== undefined) this.set({ id }, 1);
    },
  });
  if (isOfRedis(levels)) watchRedis(levels, registry);
}

function isOfRedis(levels: () => StoreStatus): levels is () => RedisLevels {
  return 'findings' in levels();
}

function watchRedis(levels: () => RedisLevels, registry: Registry): void {
  const registers = [registry];
  const level = (name: string, help: string, value: () => number) =>
    new Gauge({
      name: `plant_store_${name}`,
      help,
      registers,
      collect() {
        this.set(value());
      },
    });

  flags(
    registry,
    'redis_finding',
    'Findings, the problems of Redis that the service detects: 1 if present',
    'finding',
    () => levels().findings,
  );
  level('redis_appends', 'Appends without a reply of Redis', () => levels().appends.appends);
  level(
    'redis_appends_limit',
    'Limit of appends without a reply of Redis; beyond it writes get 503',
    () => levels().appendBounds.appends,
  );
  level('redis_append_bytes', 'Memory of appends without a reply of Redis', () => levels().appends.bytes);
  level(
    'redis_append_limit_bytes',
    'Limit of the memory of appends without a reply of Redis',
    () => levels().appendBounds.bytes,
  );
  new Counter({
    name: 'plant_store_redis_refused_appends_total',
    help: 'Appends refused by one of these limits',
    registers,
    collect() {
      this.reset();
      this.inc(levels().appends.refused);
    },
  });
}

/** Registers a gauge with one value per label, 0 or 1. */
function flags(
  registry: Registry,
  name: string,
  help: string,
  label: string,
  values: () => Readonly<Record<string, boolean>>,
): void {
  new Gauge({
    name: `plant_store_${name}`,
    help,
    labelNames: [label],
    registers: [registry],
    collect() {
      for (const [value, flag] of Object.entries(values())) this.set({ [label]: value }, Number(flag));
    },
  });
}
