import { Counter, Gauge, type Registry } from 'prom-client';

/** The status of an event store with a server. */
export interface StoreLevels {
  readonly reads: boolean;
  readonly writes: boolean;
  /** By name, from a bounded set. */
  readonly findings: Readonly<Record<string, boolean>>;
  /** Appends without a reply, and how many were refused by the queue limit. */
  readonly appends: { readonly appends: number; readonly bytes: number; readonly refused: number };
  readonly appendBounds: { readonly appends: number; readonly bytes: number };
}

/** Registers gauges that read `levels` at each scrape. */
export function watchStore(levels: () => StoreLevels, registry: Registry): void {
  const registers = [registry];

  const flags = (
    name: string,
    help: string,
    label: string,
    values: () => Readonly<Record<string, boolean>>,
  ) =>
    new Gauge({
      name: `plant_store_${name}`,
      help,
      labelNames: [label],
      registers,
      collect() {
        for (const [value, flag] of Object.entries(values())) this.set({ [label]: value }, Number(flag));
      },
    });
  const level = (name: string, help: string, value: () => number) =>
    new Gauge({
      name: `plant_store_${name}`,
      help,
      registers,
      collect() {
        this.set(value());
      },
    });

  flags('event_store_available', 'Whether the store answers reads and accepts appends', 'operation', () => ({
    read: levels().reads,
    append: levels().writes,
  }));
  flags('redis_finding', 'Problems of Redis: 1 if present', 'finding', () => levels().findings);
  level('redis_appends', 'Appends without a reply of Redis', () => levels().appends.appends);
  level('redis_appends_limit', 'Limit of those appends', () => levels().appendBounds.appends);
  level('redis_append_bytes', 'Memory of appends without a reply of Redis', () => levels().appends.bytes);
  level('redis_append_bytes_limit', 'Limit of that memory', () => levels().appendBounds.bytes);
  new Counter({
    name: 'plant_store_redis_refused_appends_total',
    help: 'Appends refused by the queue limit',
    registers,
    collect() {
      this.reset();
      this.inc(levels().appends.refused);
    },
  });
}
