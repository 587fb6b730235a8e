import { Counter, Gauge, Histogram, type Metric, Registry, collectDefaultMetrics } from 'prom-client';
import type { RequestReport } from '../../application';
import {
  type AggregateObserver,
  type EventStore,
  OutcomeUnknown,
  type StoreStatus,
  StoreUnavailable,
  UnreadableHistory,
} from '../../event-sourcing';
import { Durations } from './durations';
import { type Levels, watchLevels } from './levels';
import { MeasuredStore } from './measured-store';
import { type ReadProjections, watchProjections } from './projection-gauges';
import { watchStore } from './store-gauges';

interface MetricsOptions {
  /** The methods that the label `method` names; all others are `other`. */
  readonly methods: readonly string[];
  /** The values of the label `reason`. */
  readonly failureReasons: readonly string[];
  /** The version of the service. */
  readonly version: string;
}

/** A source of tokens or keys that is read again and again. */
export type AuthSource = 'token_file' | 'key_set';

/**
 * The Prometheus metrics of one service, in a separate registry.
 * docs/operations.md explains what to monitor. No label has a value that a client
 * can choose: no user, token or id.
 */
export class Metrics {
  readonly #registry = new Registry();
  readonly #registers = { registers: [this.#registry] };
  #collectsProcessMetrics = false;

  readonly #requests = new Durations(
    'http_request_duration_seconds',
    'Time from the header of a request to its response, by method, route pattern and status',
    ['method', 'route', 'status'],
    this.#registry,
  );
  readonly #store = new Durations(
    'plant_store_event_store_duration_seconds',
    'Time of a call to the event store, by operation and outcome',
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
  readonly #tooLarge = this.#counter('too_large', 'Times that an aggregate exceeded the memory limit');
  readonly #conflicts = this.#counter('conflicts', 'Appends that conflicted with another instance');
  readonly #lostHistories = this.#counter(
    'lost_histories',
    'Times that the event store had lost events which were served before',
  );
  readonly #snapshots = new Counter({
    name: 'plant_store_snapshots_total',
    help: 'Snapshots, by outcome: restored, saved, failed (to be loaded or saved), ignored (could not be used)',
    labelNames: ['outcome'],
    ...this.#registers,
  });
  readonly #snapshotSaved = new Gauge({
    name: 'plant_store_snapshot_saved_timestamp_seconds',
    help: 'Unix time at which this instance saved a snapshot; 0 if it has saved none',
    ...this.#registers,
  });
  readonly #failures = new Counter({
    name: 'http_request_failures_total',
    help: 'Requests that the service refused (401, 429, 503) or failed (500), by reason',
    labelNames: ['reason'],
    ...this.#registers,
  });
  readonly #authReads = new Gauge({
    name: 'plant_store_auth_source_up',
    help: 'Whether the last read of AUTH_TOKENS_FILE (token_file) or AUTH_JWKS_URL (key_set) succeeded: 1 or 0',
    labelNames: ['source'],
    ...this.#registers,
  });
  readonly #authFailures = new Counter({
    name: 'plant_store_auth_source_failures_total',
    help: 'Failed reads of AUTH_TOKENS_FILE (token_file) or AUTH_JWKS_URL (key_set); the last valid content remains in use',
    labelNames: ['source'],
    ...this.#registers,
  });
  readonly #faults = new Counter({
    name: 'plant_store_faults_total',
    help: 'Failed rounds, by kind: unavailable (nothing written), unknown (outcome), unreadable (history), bug',
    labelNames: ['kind'],
    ...this.#registers,
  });

  constructor(private readonly options: MetricsOptions) {
    // So that the first fault shows as an increase.
    for (const kind of ['unavailable', 'unknown', 'unreadable', 'bug']) this.#faults.inc({ kind }, 0);
    for (const outcome of ['restored', 'saved', 'failed', 'ignored']) this.#snapshots.inc({ outcome }, 0);
    for (const reason of options.failureReasons) this.#failures.inc({ reason }, 0);
    const build = new Gauge({
      name: 'plant_store_build_info',
      help: '1; the labels are the versions of the service and of Node',
      labelNames: ['version', 'node'],
      ...this.#registers,
    });
    build.set({ version: options.version, node: process.version }, 1);
  }

  readonly contentType = this.#registry.contentType;

  /** Called for every answered request. Its route, status and reason are from bounded sets. */
  readonly request = ({
    method,
    route,
    status,
    durationMs = 0,
    reason,
  }: Omit<RequestReport, 'requestId'>): void => {
    const known = method !== undefined && this.options.methods.includes(method) ? method : 'other';
    if (reason !== undefined && this.options.failureReasons.includes(reason)) this.#failures.inc({ reason });
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
    snapshot: (_, outcome) => {
      this.#snapshots.inc({ outcome });
      if (outcome === 'saved') this.#snapshotSaved.setToCurrentTime();
    },
    tooLarge: () => this.#tooLarge.inc(),
    fault: (_, error) => this.#faults.inc({ kind: kindOf(error) }),
  };

  /** Wraps `store` to measure its calls. */
  measured(store: EventStore): EventStore {
    return new MeasuredStore(store, (operation, outcome, seconds) =>
      this.#store.observe(seconds, operation, outcome),
    );
  }

  /** Called after every read of a source of tokens or keys. */
  authSourceRead(source: AuthSource, succeeded: boolean): void {
    this.#authReads.set({ source }, Number(succeeded));
    this.#authFailures.inc({ source }, Number(!succeeded));
  }

  /**
   * Exports values that are read at each scrape. @param store absent for an event store without a server. @param projections
   * absent for one without leases; must not reject.
   */
  watch(levels: Levels, store?: () => StoreStatus, projections?: ReadProjections): void {
    watchLevels(levels, this.#registry);
    if (store) watchStore(store, this.#registry);
    if (projections) watchProjections(projections, this.#registry);
  }

  /** All metrics except those of the process, for the documentation. */
  get descriptions(): readonly MetricDescription[] {
    const metrics = this.#registry.getMetricsAsArray() as unknown as readonly (MetricDescription & Metric)[];
    return metrics.map(({ name, help, type, labelNames }) => ({ name, help, type, labelNames }));
  }

  /** The metrics in Prometheus' text format. */
  async text(): Promise<string> {
    // Process metrics (garbage collection, event loop lag) start with the first scrape: prom-client cannot stop them,
    // and a process may run several services that are never scraped.
    if (!this.#collectsProcessMetrics) collectDefaultMetrics({ register: this.#registry });
    this.#collectsProcessMetrics = true;
    return this.#registry.metrics();
  }

  close(): void {
    this.#registry.clear();
  }

  #counter(name: string, help: string): Counter {
    return new Counter({ name: `plant_store_${name}_total`, help, ...this.#registers });
  }
}

export interface MetricDescription {
  readonly name: string;
  readonly help: string;
  readonly type: string;
  readonly labelNames: readonly string[];
}

function kindOf(error: unknown): string {
  if (error instanceof UnreadableHistory) return 'unreadable';
  if (error instanceof StoreUnavailable) return 'unavailable';
  return error instanceof OutcomeUnknown ? 'unknown' : 'bug';
}
