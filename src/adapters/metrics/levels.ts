import { Counter, Gauge, type Registry } from 'prom-client';
import type { AggregatesUsage } from '../../event-sourcing';

/** Values that are read at each scrape, rather than counted. */
export interface Levels {
  readonly usage: () => AggregatesUsage;
  /** Whether the service is ready; see `/health/ready`. */
  readonly ready: () => Promise<boolean>;
  /** Open connections, idle or not, and their limit. */
  readonly connections: () => number;
  readonly maxConnections: number;
  /** Connections refused so far. */
  readonly refusedConnections: () => ConnectionRefusals;
  /** Dropped log lines since the start of the process. */
  readonly droppedLogLines: () => number;
  /** Requests that wait for a turn of the event loop. */
  readonly waitingRequests: () => number;
  /** Bytes of cached texts of lists, the long responses that are being sent, and their bytes. */
  readonly lists: () => {
    readonly bytes: number;
    readonly sent: { readonly responses: number; readonly bytes: number };
  };
  /** Memory of the bodies that are being received, in bytes. */
  readonly bodyBytes: () => number;
}

/** Refused connections: beyond the limit of open ones, or because too many requests were queued on one. */
type ConnectionRefusals = Readonly<Record<'limit' | 'pipelining', number>>;

/** Reads a value at a scrape. */
type ReadLevel = (usage: AggregatesUsage, levels: Levels) => number | Promise<number>;
type Table = Readonly<Record<string, readonly [help: string, read: ReadLevel]>>;

const GAUGES: Table = {
  plant_store_ready: [
    'Whether /health/ready answers 200: 1 or 0',
    async (_, { ready }) => Number(await ready()),
  ],
  plant_store_collections: [
    'Aggregates in memory: of each user one of each kind',
    ({ aggregates }) => aggregates,
  ],
  plant_store_plants: ['Plants, and items of other kinds of aggregates, in memory', ({ items }) => items],
  plant_store_cache_bytes: ['Estimated memory of the aggregates in memory', ({ bytes }) => bytes],
  plant_store_cache_limit_bytes: [
    'Limit of the memory of aggregates (CACHE_MAX_BYTES)',
    ({ maxBytes }) => maxBytes,
  ],
  plant_store_command_bytes: ['Memory of unanswered writes', ({ commandBytes }) => commandBytes],
  plant_store_command_limit_bytes: [
    'Limit of the memory of unanswered writes; beyond it writes get 503',
    ({ maxCommandBytes }) => maxCommandBytes,
  ],
  plant_store_user_waiting_requests: [
    'Longest queue of requests of one user that wait for a round',
    ({ mostWaiting }) => mostWaiting,
  ],
  plant_store_user_waiting_requests_limit: [
    'Limit of the requests of one user that wait for a round; beyond it the user gets 503',
    ({ maxWaiting }) => maxWaiting,
  ],
  plant_store_round_bytes: [
    'Memory of the writes of the largest round in flight',
    ({ roundBytes }) => roundBytes,
  ],
  plant_store_round_limit_bytes: [
    'Limit of the memory of the writes of a round; a single write may exceed it',
    ({ maxRoundBytes }) => maxRoundBytes,
  ],
  plant_store_loads_in_progress: [
    'Users whose histories are being loaded',
    ({ loadsInProgress }) => loadsInProgress,
  ],
  plant_store_loads_waiting: [
    'Users whose histories wait to be loaded; their requests may time out',
    ({ loadsWaiting }) => loadsWaiting,
  ],
  http_connections: ['Open connections', (_, { connections }) => connections()],
  http_connections_limit: [
    'Limit of open connections (MAX_CONNECTIONS)',
    (_, levels) => levels.maxConnections,
  ],
  http_waiting_requests: [
    'Requests that wait for a turn of the event loop',
    (_, { waitingRequests }) => waitingRequests(),
  ],
  http_list_text_bytes: ['Memory of the cached texts of lists', (_, { lists }) => lists().bytes],
  http_long_lists: ['Long lists that are being sent', (_, { lists }) => lists().sent.responses],
  http_long_list_bytes: [
    'Memory of the long lists that are being sent, with their plants',
    (_, { lists }) => lists().sent.bytes,
  ],
  http_body_bytes: ['Memory of the bodies that are being received', (_, { bodyBytes }) => bodyBytes()],
};

/** Counters that are read at each scrape. */
const TOTALS: Table = {
  plant_store_cache_hits_total: ['Requests whose user was in memory, or being loaded', ({ hits }) => hits],
  plant_store_cache_misses_total: [
    'Requests whose user had to be loaded, or was new',
    ({ misses }) => misses,
  ],
  plant_store_cache_evictions_total: ['Users evicted from memory', ({ evictions }) => evictions],
  plant_store_log_lines_dropped_total: [
    'Log lines that could not be written',
    (_, { droppedLogLines }) => droppedLogLines(),
  ],
};

/** Registers metrics that read `levels` at each scrape. */
export function watchLevels(levels: Levels, registry: Registry): void {
  const registers = [registry];
  // All metrics of a scrape are read in one turn of the event loop and share one snapshot of the usage.
  let usage: AggregatesUsage | undefined;
  const valueOf = (read: ReadLevel) => {
    if (usage === undefined) {
      usage = levels.usage();
      setImmediate(() => (usage = undefined));
    }
    return read(usage, levels);
  };
  for (const [name, [help, read]] of Object.entries(GAUGES)) {
    const collect = async () => gauge.set(await valueOf(read));
    const gauge: Gauge = new Gauge({ name, help, collect, registers });
  }
  for (const [name, [help, read]] of Object.entries(TOTALS)) {
    const collect = async () => {
      const value = await valueOf(read);
      counter.reset();
      counter.inc(value);
    };
    const counter: Counter = new Counter({ name, help, collect, registers });
  }
  new Counter({
    name: 'http_refused_connections_total',
    help: 'Refused connections, by reason: limit (MAX_CONNECTIONS), pipelining (too many requests queued on it)',
    labelNames: ['reason'],
    registers,
    collect() {
      this.reset();
      for (const [reason, count] of Object.entries(levels.refusedConnections())) this.inc({ reason }, count);
    },
  });
}
