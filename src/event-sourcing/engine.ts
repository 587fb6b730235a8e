import { AggregateCache } from './aggregate-cache';
import { LoadQueue } from './load-queue';
import { type AggregateEvent, safely } from './observe';
import type { Clock } from './ports/clock';
import type { EventStore } from './ports/event-store';
import { SNAPSHOT_EVERY, type SnapshotOptions, type Snapshots } from './snapshots';

/** Default deadline of a request, in milliseconds. */
export const DEFAULT_TIMEOUT_MS = 2000;
/** Memory of all commands that are not settled, as a share of the memory of all states. */
const COMMANDS_SHARE = 1 / 4;

export interface AggregatesOptions {
  readonly store: EventStore;
  readonly clock: Clock;
  /** Returns a new commit id. No two appends at one head of a stream may have the same. */
  readonly mintCommit: () => string;
  /** Restores states from snapshots, and saves them. By default every load replays the history. */
  readonly snapshots?: SnapshotOptions | undefined;
  /**
   * Deadline of every request, in milliseconds after its arrival; {@link DEFAULT_TIMEOUT_MS} by default. A single call may
   * have an earlier one.
   */
  readonly timeoutMs?: number | undefined;
  /** Queue limit per stream: how many requests may wait for the next round; 1024 by default. More are refused. */
  readonly maxWaiting?: number | undefined;
  /**
   * Memory limit of all states, in bytes (estimated); 256 MiB by default. One stream may use all of it. Commands that
   * wait to be recorded may use a quarter as much in addition.
   */
  readonly maxBytes?: number | undefined;
  /**
   * Postpones the start of a round, for example to the end of the event loop's turn, so that requests which arrive
   * until then join it. By default a round starts at once.
   */
  readonly schedule?: ((start: () => void) => void) | undefined;
  /** Called synchronously. Its errors are ignored. */
  readonly observe?: ((event: AggregateEvent) => void) | undefined;
}

/** What bounds all aggregates of an instance together. */
interface Bounds {
  readonly cache: AggregateCache<{ readonly isIdle: boolean }>;
  readonly loads: LoadQueue;
  /** Limit of {@link Engine.commandBytes}. */
  readonly maxCommandBytes: number;
}

/** What all aggregates of an instance share: the options with their defaults, and their bounds. */
export class Engine implements Bounds {
  readonly store: EventStore;
  readonly clock: Clock;
  readonly mintCommit: () => string;
  readonly timeoutMs: number;
  readonly maxWaiting: number;
  readonly maxBytes: number;
  readonly schedule: (start: () => void) => void;
  readonly report: (event: AggregateEvent) => void;
  readonly snapshots: Snapshots | undefined;

  readonly cache: Bounds['cache'];
  readonly loads: LoadQueue;
  readonly maxCommandBytes: number;
  /** Memory of the commands that are not settled. */
  commandBytes = 0;
  #pending = 0;
  #release: (() => void) | undefined;

  constructor(options: AggregatesOptions, bounds: Partial<Bounds> = {}) {
    const { timeoutMs = DEFAULT_TIMEOUT_MS, maxBytes = 256 * 2 ** 20, snapshots } = options;
    this.store = options.store;
    this.clock = options.clock;
    this.mintCommit = options.mintCommit;
    this.timeoutMs = timeoutMs;
    this.maxWaiting = options.maxWaiting ?? 1024;
    this.maxBytes = maxBytes;
    this.schedule = options.schedule ?? ((start) => start());
    this.report = safely(options.observe);
    this.snapshots = snapshots && {
      store: snapshots.store,
      every: snapshots.every ?? SNAPSHOT_EVERY,
      clock: options.clock,
      loadTimeoutMs: 2 * timeoutMs,
      saving: false,
    };
    this.cache = bounds.cache ?? new AggregateCache(maxBytes);
    // A page that comes too late for its request is still of use to the next one, so it may take twice as long.
    this.loads = bounds.loads ?? new LoadQueue(options.clock, 2 * timeoutMs);
    this.maxCommandBytes = bounds.maxCommandBytes ?? maxBytes * COMMANDS_SHARE;
  }

  /** Counts a request. The process stays alive while any of them waits for its answer. */
  requestBegins(): void {
    if (this.#pending++ === 0) this.#release = this.clock.keepAlive?.();
  }

  requestEnds(): void {
    if (--this.#pending === 0) this.#release?.();
  }
}
