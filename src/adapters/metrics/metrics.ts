import { Counter, Gauge, Histogram, Registry, collectDefaultMetrics } from 'prom-client';
import {
  type CollectionObserver,
  type EventStore,
  OutcomeUnknown,
  StoreUnavailable,
  type StoreUsage,
  UnreadableHistory,
} from '../../application';
import { Durations } from './durations';
import { MeasuredStore } from './measured-store';
import { type StoreLevels, watchStore } from './store-gauges';

/** A request that was answered. All but the method is of a bounded set. */
export interface AnsweredRequest {
  readonly method?: string;
  readonly route?: string | undefined;
  readonly status: number;
  readonly durationMs?: number;
}

/** What is looked at when the metrics are asked for, rather than counted on its way. */
export interface Levels {
  readonly usage: () => StoreUsage;
  /** Open ones, idle or not. */
  readonly connections: () => number;
  /** Since the start of the process. */
  readonly droppedLogLines: () => number;
  /** Requests that wait for their turn of the event loop. */
  readonly waitingRequests: () => number;
  /** Long texts of lists that are unfinished. */
  readonly waitingTexts: () => number;
  /** Bytes of list texts held. */
  readonly textBytes: () => number;
  /** Of an event store that has a server. */
  readonly store?: (() => StoreLevels) | undefined;
}

const METHODS: ReadonlySet<string | undefined> = new Set(['GET', 'HEAD', 'POST', 'DELETE', 'OPTIONS']);

/** What is read when the metrics are requested. */
const GAUGES: Readonly<Record<string, readonly [help: string, read: (levels: Levels) => number]>> = {
  plant_store_collections: ['Users whose plants are in memory', ({ usage }) => usage().collections],
  plant_store_plants: ['Plants in memory', ({ usage }) => usage().plants],
  plant_store_cache_bytes: ['About how much memory those plants take', ({ usage }) => usage().bytes],
  plant_store_cache_limit_bytes: [
    'How much they may take (CACHE_MAX_BYTES)',
    ({ usage }) => usage().maxBytes,
  ],
  plant_store_command_bytes: ['What unanswered writes take in memory', ({ usage }) => usage().commandBytes],
  plant_store_command_limit_bytes: [
    'How much they may take; beyond it writes get 503',
    ({ usage }) => usage().maxCommandBytes,
  ],
  plant_store_load_pages_reading: [
    'Pages of histories requested from the event store',
    ({ usage }) => usage().pagesReading,
  ],
  plant_store_load_pages_waiting: [
    'Pages of histories that wait to be requested',
    ({ usage }) => usage().pagesWaiting,
  ],
  http_connections: ['Open connections', ({ connections }) => connections()],
  http_waiting_requests: [
    'Requests that wait for their turn of the event loop',
    ({ waitingRequests }) => waitingRequests(),
  ],
  http_waiting_list_texts: ['Texts of long lists that are unfinished', ({ waitingTexts }) => waitingTexts()],
  http_list_text_bytes: [
    'Bytes of list texts: kept answers, segments, unfinished texts',
    ({ textBytes }) => textBytes(),
  ],
};

/** The same, for what only grows. */
const TOTALS: typeof GAUGES = {
  plant_store_cache_evictions_total: ['Users dropped from memory', ({ usage }) => usage().evictions],
  plant_store_log_lines_dropped_total: [
    'Log lines that could not be written',
    ({ droppedLogLines }) => droppedLogLines(),
  ],
};

/**
 * What one service tells Prometheus about itself, in a registry of its own.
 * docs/operations.md says what to watch. No label bears a user, a token, an id
 * or anything else that a client can make up.
 */
export class Metrics {
  readonly #registry = new Registry();
  readonly #registers = { registers: [this.#registry] };
  #levels: Levels | undefined;
  #aboutProcess = false;

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
  readonly #rounds = this.#counter('rounds', 'Rounds answered or failed');
  readonly #trips = this.#counter('round_trips', 'Calls to the event store that rounds made');
  readonly #appended = this.#counter('appended_events', 'Events appended');
  readonly #loaded = this.#counter('loaded_events', 'Events read from histories');
  readonly #tooLarge = this.#counter(
    'too_large',
    'Times a user had more plants than the memory of this instance may hold',
  );
  readonly #conflicts = this.#counter('conflicts', 'Appends that met newer events of another instance');
  readonly #lostHistories = this.#counter(
    'lost_histories',
    'Times the event store no longer had what was served before',
  );
  readonly #refused = new Counter({
    name: 'http_refused_user_requests_total',
    help: 'Requests refused because too many of their user were in flight',
    ...this.#registers,
  });
  readonly #faults = new Counter({
    name: 'plant_store_faults_total',
    help: 'Failed rounds, by kind: unavailable (nothing happened), unknown (an outcome), unreadable (a history), bug',
    labelNames: ['kind'],
    ...this.#registers,
  });

  constructor() {
    // So that the first of them shows as an increase.
    for (const kind of ['unavailable', 'unknown', 'unreadable', 'bug']) this.#faults.inc({ kind }, 0);
    for (const [name, [help, read]] of Object.entries(GAUGES)) this.#gauge(name, help, read);
    for (const [name, [help, read]] of Object.entries(TOTALS)) this.#total(name, help, read);
  }

  readonly contentType = this.#registry.contentType;

  /** For the edge to call with every request it has answered. */
  readonly request = ({ method, route, status, durationMs = 0 }: AnsweredRequest): void => {
    const known = METHODS.has(method) ? method! : 'other';
    if (status === 429) this.#refused.inc();
    this.#requests.observe(durationMs / 1000, known, route ?? 'none', String(status));
  };

  readonly collections: CollectionObserver = {
    round: (requests, trips) => {
      this.#rounds.inc();
      this.#roundRequests.observe(requests);
      this.#trips.inc(trips);
    },
    appended: (events) => this.#appended.inc(events),
    conflict: () => this.#conflicts.inc(),
    loaded: (events) => this.#loaded.inc(events),
    historyLost: () => this.#lostHistories.inc(),
    tooLarge: () => this.#tooLarge.inc(),
    fault: (_, error) => this.#faults.inc({ kind: kindOf(error) }),
  };

  /** `store`, its calls timed. */
  measured(store: EventStore): EventStore {
    return new MeasuredStore(store, (operation, outcome, seconds) =>
      this.#store.observe(seconds, operation, outcome),
    );
  }

  watch(levels: Levels): void {
    this.#levels = levels;
    if (levels.store) watchStore(levels.store, this.#registry);
  }

  /** In Prometheus' text format. */
  async text(): Promise<string> {
    // Watching the process (its garbage collection, the lag of its event loop) begins with the first who asks:
    // prom-client cannot be told to end it, and a process may hold many services that nobody asks.
    if (!this.#aboutProcess) collectDefaultMetrics({ register: this.#registry });
    this.#aboutProcess = true;
    return this.#registry.metrics();
  }

  close(): void {
    this.#levels = undefined;
    this.#registry.clear();
  }

  #counter(name: string, help: string): Counter {
    return new Counter({ name: `plant_store_${name}_total`, help, ...this.#registers });
  }

  /** A counter whose total is kept elsewhere. */
  #total(name: string, help: string, read: (levels: Levels) => number): void {
    const collect = () => {
      counter.reset();
      counter.inc(this.#read(read));
    };
    const counter: Counter = new Counter({ name, help, collect, ...this.#registers });
  }

  #gauge(name: string, help: string, read: (levels: Levels) => number): void {
    const collect = () => gauge.set(this.#read(read));
    const gauge: Gauge = new Gauge({ name, help, collect, ...this.#registers });
  }

  #read(read: (levels: Levels) => number): number {
    return this.#levels === undefined ? 0 : read(this.#levels);
  }
}

function kindOf(error: unknown): string {
  if (error instanceof UnreadableHistory) return 'unreadable';
  if (error instanceof StoreUnavailable) return 'unavailable';
  return error instanceof OutcomeUnknown ? 'unknown' : 'bug';
}
