import { AggregateCache } from './aggregate-cache';
import { LoadQueue } from './load-queue';
import { type AggregateEvent, ignoreErrors } from './observe';
import type { Clock } from './ports/clock';
import type { EventStore } from './ports/event-store';
import { SNAPSHOT_EVERY, type SnapshotContext, type SnapshotOptions } from './snapshots';

export const DEFAULT_TIMEOUT_MS = 2000;
const COMMANDS_SHARE = 1 / 4;

export interface AggregatesOptions {
  readonly store: EventStore;
  readonly clock: Clock;
  /**
   * Returns a new commit id. No two appends may have the same id, because the store would take the
   * second one for a repetition of the first.
   */
  readonly mintCommit: () => string;
  /** By default no snapshots are used, and every load replays the whole history. */
  readonly snapshots?: SnapshotOptions | undefined;
  /**
   * The deadline of every request, in milliseconds after its arrival; {@link DEFAULT_TIMEOUT_MS} by
   * default. A single call may have an earlier deadline.
   */
  readonly timeoutMs?: number | undefined;
  /**
   * How many requests of one stream may wait for the next round; 1024 by default. Further requests
   * reject with `StoreUnavailable`.
   */
  readonly maxWaiting?: number | undefined;
  /**
   * The memory limit of all states together, in estimated bytes; 256 MiB by default. A load may use
   * all of it; commands may extend a state only up to 7/8, so that it can be loaded again. Commands
   * that wait to be recorded may take a quarter of this in addition.
   */
  readonly maxBytes?: number | undefined;
  /**
   * Postpones the start of a round, for example to the end of the event loop's turn, so that more
   * requests join it. By default a round starts immediately.
   */
  readonly schedule?: ((start: () => void) => void) | undefined;
  /** Called synchronously. Its errors are ignored. */
  readonly observe?: ((event: AggregateEvent) => void) | undefined;
}

interface Bounds {
  readonly loads: LoadQueue;
  readonly maxCommandBytes: number;
}

/**
 * What all aggregates of an instance share: the store, the options, and the bounds. Tests set
 * bounds of their own.
 */
export class Engine implements Bounds {
  readonly store: EventStore;
  readonly clock: Clock;
  readonly mintCommit: () => string;
  readonly timeoutMs: number;
  readonly maxWaiting: number;
  readonly schedule: (start: () => void) => void;
  readonly report: (event: AggregateEvent) => void;
  readonly snapshots: SnapshotContext | undefined;

  readonly cache: AggregateCache<{ readonly isIdle: boolean }>;
  readonly loads: LoadQueue;
  readonly maxCommandBytes: number;
  commandBytes = 0;

  constructor(options: AggregatesOptions, bounds: Partial<Bounds> = {}) {
    const { timeoutMs = DEFAULT_TIMEOUT_MS, maxBytes = 256 * 2 ** 20, snapshots } = options;
    this.store = options.store;
    this.clock = options.clock;
    this.mintCommit = options.mintCommit;
    this.timeoutMs = timeoutMs;
    this.maxWaiting = options.maxWaiting ?? 1024;
    this.schedule = options.schedule ?? ((start) => start());
    this.report = ignoreErrors(options.observe);
    this.snapshots = snapshots && {
      store: snapshots.store,
      every: snapshots.every ?? SNAPSHOT_EVERY,
      clock: options.clock,
      loadTimeoutMs: 2 * timeoutMs,
      saving: false,
    };
    this.cache = new AggregateCache(maxBytes);
    // A page that arrives too late for its own request is still useful to the next one, so a page
    // may take twice as long as a request.
    this.loads = bounds.loads ?? new LoadQueue(options.clock, 2 * timeoutMs);
    this.maxCommandBytes = bounds.maxCommandBytes ?? maxBytes * COMMANDS_SHARE;
  }
}
