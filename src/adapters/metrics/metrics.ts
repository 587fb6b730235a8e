import { Counter, Gauge, Histogram, Registry, collectDefaultMetrics } from 'prom-client';
import {
  type AggregateObserver,
  type AggregatesUsage,
  type EventStore,
  OutcomeUnknown,
  StoreUnavailable,
  UnreadableHistory,
} from '../../event-sourcing';
import { Durations } from './durations';
import { MeasuredStore } from './measured-store';
import { type StoreLevels, watchStore } from './store-gauges';

/** An answered request. All values except the method are from bounded sets. */
export interface AnsweredRequest {
  readonly method?: string;
  readonly route?: string | undefined;
  readonly status: number;
  readonly durationMs?: number;
}

/** Values that are read at each scrape, rather than counted. */
export interface Levels {
  readonly usage: () => AggregatesUsage;
  /** Open connections, idle or not. */
  readonly connections: () => number;
  /** Dropped log lines since the start of the process. */
  readonly droppedLogLines: () => number;
  /** Requests that wait for a turn of the event loop. */
  readonly waitingRequests: () => number;
  /** Unfinished texts of long lists. */
  readonly waitingTexts: () => number;
  /** Memory of list texts, in bytes. */
  readonly textBytes: () => number;
  /** Absent for an event store without a server. */
  readonly store?: (() => StoreLevels) | undefined;
}

/** Reads a metric's value, from the levels and one snapshot of the usage. */
type Read = (usage: AggregatesUsage, levels: Levels) => number;

/** Gauges that are read at each scrape. */
const GAUGES: Readonly<Record<string, readonly [help: string, read: Read]>> = {
  plant_store_collections: ['Users whose plants are in memory', ({ aggregates }) => aggregates],
  plant_store_plants: ['Plants in memory', ({ items }) => items],
  plant_store_cache_bytes: ['Estimated memory of those plants', ({ bytes }) => bytes],
  plant_store_cache_limit_bytes: ['Limit of that memory (CACHE_MAX_BYTES)', ({ maxBytes }) => maxBytes],
  plant_store_command_bytes: ['Memory of unanswered writes', ({ commandBytes }) => commandBytes],
  plant_store_command_limit_bytes: [
    'Limit of that memory; beyond it writes get 503',
    ({ maxCommandBytes }) => maxCommandBytes,
  ],
  plant_store_user_waiting_requests: [
    'Longest queue of requests of one user that wait for a round',
    ({ mostWaiting }) => mostWaiting,
  ],
  plant_store_user_waiting_requests_limit: [
    'Limit of that queue; beyond it the user gets 503',
    ({ maxWaiting }) => maxWaiting,
  ],
  plant_store_round_bytes: [
    'Memory of the writes of the largest round in flight',
    ({ roundBytes }) => roundBytes,
  ],
  plant_store_round_limit_bytes: [
    'Limit of that memory; a single write may exceed it',
    ({ maxRoundBytes }) => maxRoundBytes,
  ],
  plant_store_load_pages_reading: ['Pages of histories in flight', ({ pagesReading }) => pagesReading],
  plant_store_load_pages_waiting: [
    'Pages of histories in the load queue',
    ({ pagesWaiting }) => pagesWaiting,
  ],
  http_connections: ['Open connections', (_, { connections }) => connections()],
  http_waiting_requests: [
    'Requests that wait for a turn of the event loop',
    (_, { waitingRequests }) => waitingRequests(),
  ],
  http_waiting_list_texts: ['Unfinished texts of long lists', (_, { waitingTexts }) => waitingTexts()],
  http_list_text_bytes: [
    'Memory of list texts: cached answers, segments, unfinished texts',
    (_, { textBytes }) => textBytes(),
  ],
};

/** Counters that are read at each scrape. */
const TOTALS: typeof GAUGES = {
  plant_store_cache_evictions_total: ['Users evicted from memory', ({ evictions }) => evictions],
  plant_store_log_lines_dropped_total: [
    'Log lines that could not be written',
    (_, { droppedLogLines }) => droppedLogLines(),
  ],
};

/**
 * The Prometheus metrics of one service, in a separate registry.
 * docs/operations.md explains what to monitor. No label has a value that a client
 * can choose: no user, token or id.
 */
export class Metrics {
  readonly #registry = new Registry();
  readonly #registers = { registers: [this.#registry] };
  #levels: Levels | undefined;
  /** The usage at the current scrape. */
  #usage: AggregatesUsage | undefined;
  #collectsProcessMetrics = false;

  readonly #requests = new Durations(
    'http_request_duration_seconds',
    'From the request header to the answer, by method, route pattern and status',
    ['method', 'route', 'status'],
    this.#registry,
  );
  readonly #store = new Durations(
    'plant_store_event_store_duration_seconds',
    'Calls to the event store, by operation and outcome',
    ['operation', 'outcome'],
    this.#registry,
  );
  readonly #roundRequests = new Histogram({
    name: 'plant_store_round_requests',
    help: 'Requests that shared a round',
    buckets: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000],
    ...this.#registers,
  });
  readonly #rounds = this.#counter('rounds', 'Rounds');
  readonly #storeCalls = this.#counter('round_trips', 'Calls to the event store by rounds');
  readonly #appended = this.#counter('appended_events', 'Events appended');
  readonly #loaded = this.#counter('loaded_events', 'Events read from histories');
  readonly #tooLarge = this.#counter('too_large', 'Times the plants of a user exceeded the memory limit');
  readonly #conflicts = this.#counter('conflicts', 'Appends that conflicted with another instance');
  readonly #lostHistories = this.#counter(
    'lost_histories',
    'Times the event store had lost events that were served before',
  );
  readonly #snapshots = new Counter({
    name: 'plant_store_snapshots_total',
    help: 'Snapshots, by outcome: restored, saved, failed (to be loaded or saved), ignored (could not be used)',
    labelNames: ['outcome'],
    ...this.#registers,
  });
  readonly #refused = new Counter({
    name: 'http_refused_user_requests_total',
    help: 'Requests refused because too many requests of the user were in flight',
    ...this.#registers,
  });
  readonly #faults = new Counter({
    name: 'plant_store_faults_total',
    help: 'Failed rounds, by kind: unavailable (nothing written), unknown (outcome), unreadable (history), bug',
    labelNames: ['kind'],
    ...this.#registers,
  });

  /** @param methods those that the label `method` names; all others are `other`. */
  constructor(private readonly methods: readonly string[]) {
    // So that the first fault shows as an increase.
    for (const kind of ['unavailable', 'unknown', 'unreadable', 'bug']) this.#faults.inc({ kind }, 0);
    for (const outcome of ['restored', 'saved', 'failed', 'ignored']) this.#snapshots.inc({ outcome }, 0);
    for (const [name, [help, read]] of Object.entries(GAUGES)) this.#gauge(name, help, read);
    for (const [name, [help, read]] of Object.entries(TOTALS)) this.#total(name, help, read);
  }

  readonly contentType = this.#registry.contentType;

  /** Called for every answered request. */
  readonly request = ({ method, route, status, durationMs = 0 }: AnsweredRequest): void => {
    const known = method !== undefined && this.methods.includes(method) ? method : 'other';
    if (status === 429) this.#refused.inc();
    this.#requests.observe(durationMs / 1000, known, route ?? 'none', String(status));
  };

  readonly aggregates: AggregateObserver = {
    round: (requests, storeCalls) => {
      this.#rounds.inc();
      this.#roundRequests.observe(requests);
      this.#storeCalls.inc(storeCalls);
    },
    appended: (events) => this.#appended.inc(events),
    conflict: () => this.#conflicts.inc(),
    loaded: (events) => this.#loaded.inc(events),
    historyLost: () => this.#lostHistories.inc(),
    snapshot: (_, outcome) => this.#snapshots.inc({ outcome }),
    tooLarge: () => this.#tooLarge.inc(),
    fault: (_, error) => this.#faults.inc({ kind: kindOf(error) }),
  };

  /** Wraps `store` to measure its calls. */
  measured<Event>(store: EventStore<Event>): EventStore<Event> {
    return new MeasuredStore(store, (operation, outcome, seconds) =>
      this.#store.observe(seconds, operation, outcome),
    );
  }

  watch(levels: Levels): void {
    this.#levels = levels;
    if (levels.store) watchStore(levels.store, this.#registry);
  }

  /** The metrics in Prometheus' text format. */
  async text(): Promise<string> {
    // Process metrics (garbage collection, event loop lag) start with the first scrape: prom-client cannot stop them,
    // and a process may run several services that are never scraped.
    if (!this.#collectsProcessMetrics) collectDefaultMetrics({ register: this.#registry });
    this.#collectsProcessMetrics = true;
    this.#usage = undefined;
    return this.#registry.metrics();
  }

  close(): void {
    this.#levels = undefined;
    this.#registry.clear();
  }

  #counter(name: string, help: string): Counter {
    return new Counter({ name: `plant_store_${name}_total`, help, ...this.#registers });
  }

  /** A counter whose value is read at each scrape. */
  #total(name: string, help: string, read: Read): void {
    const collect = () => {
      counter.reset();
      counter.inc(this.#read(read));
    };
    const counter: Counter = new Counter({ name, help, collect, ...this.#registers });
  }

  #gauge(name: string, help: string, read: Read): void {
    const collect = () => gauge.set(this.#read(read));
    const gauge: Gauge = new Gauge({ name, help, collect, ...this.#registers });
  }

  #read(read: Read): number {
    if (this.#levels === undefined) return 0;
    this.#usage ??= this.#levels.usage();
    return read(this.#usage, this.#levels);
  }
}

function kindOf(error: unknown): string {
  if (error instanceof UnreadableHistory) return 'unreadable';
  if (error instanceof StoreUnavailable) return 'unavailable';
  return error instanceof OutcomeUnknown ? 'unknown' : 'bug';
}
