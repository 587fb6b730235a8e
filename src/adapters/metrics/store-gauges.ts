import { Counter, Gauge, type Registry } from 'prom-client';

/** What an event store with a server shows of itself. */
export interface StoreLevels {
  readonly reads: boolean;
  readonly writes: boolean;
  /** By name, of a bounded set. */
  readonly findings: Readonly<Record<string, boolean>>;
  /** Appends that the server has not answered, and how many were refused since too many were held. */
  readonly appends: { readonly appends: number; readonly bytes: number; readonly refused: number };
  readonly appendBounds: { readonly appends: number; readonly bytes: number };
}

/** Registers what `look` finds whenever the metrics are asked for. */
export function watchStore(look: () => StoreLevels, registry: Registry): void {
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

  flags('event_store_available', 'Whether the store answers reads and takes appends', 'operation', () => ({
    read: look().reads,
    append: look().writes,
  }));
  flags('redis_finding', 'What is wrong with Redis: 1 where it is', 'finding', () => look().findings);
  level('redis_appends', 'Appends that Redis has not answered', () => look().appends.appends);
  level('redis_appends_limit', 'How many of them may be held', () => look().appendBounds.appends);
  level('redis_append_bytes', 'Bytes of the appends that Redis has not answered', () => look().appends.bytes);
  level('redis_append_bytes_limit', 'How many bytes of them may be held', () => look().appendBounds.bytes);
  new Counter({
    name: 'plant_store_redis_refused_appends_total',
    help: 'Appends refused because too many were held',
    registers,
    collect() {
      this.reset();
      this.inc(look().appends.refused);
    },
  });
}
