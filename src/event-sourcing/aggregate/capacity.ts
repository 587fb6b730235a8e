import { LoadQueue } from '../loading/load-queue';
import { SaveSlot } from '../loading/save-slot';
import type { Clock } from '../ports/clock';
import type { Aggregate } from './aggregate';
import { AggregateCache, type Cacheable } from './aggregate-cache';
import { ByteBudget, MAX_ROUND_BYTES } from './request-queue';

/** Default deadline of a request, in milliseconds. */
export const DEFAULT_TIMEOUT_MS = 2000;

export interface CapacityOptions {
  readonly clock: Clock;
  /** Deadline of every request, in milliseconds after its arrival; {@link DEFAULT_TIMEOUT_MS} by default. */
  readonly timeoutMs?: number | undefined;
  /** Queue limit per stream: how many requests may wait for the next round; 1024 by default. More are refused. */
  readonly maxWaiting?: number | undefined;
  /**
   * Memory limit of all states, in bytes (estimated); 256 MiB by default. One stream may use all of it. Commands
   * that wait to be recorded may use a quarter as much in addition.
   */
  readonly cacheMaxBytes?: number | undefined;
  /** Limit of items in memory; each stream counts as ten more; unbounded by default. */
  readonly cacheMaxItems?: number | undefined;
}

/** Current memory and queue lengths, with their limits. */
export interface AggregatesUsage {
  /** Streams in memory, the items of their states, and their estimated bytes. */
  readonly aggregates: number;
  readonly items: number;
  readonly bytes: number;
  readonly maxBytes: number;
  /** Memory of unsettled commands, in bytes. */
  readonly commandBytes: number;
  readonly maxCommandBytes: number;
  /** Length of the longest queue of requests of one stream. */
  readonly mostWaiting: number;
  readonly maxWaiting: number;
  /** Memory of the commands of the largest round in flight, in bytes. */
  readonly roundBytes: number;
  readonly maxRoundBytes: number;
  /** Histories that are being loaded, and those that wait for their first page. */
  readonly loadsInProgress: number;
  readonly loadsWaiting: number;
  /** Requests so far whose stream was in memory, or being loaded. */
  readonly hits: number;
  /** Requests so far that had to load their stream, or were the first of a new one. */
  readonly misses: number;
  /** Streams evicted so far. */
  readonly evictions: number;
}

const COMMANDS_SHARE = 1 / 4;

/** What the aggregates of all kinds share: the memory, the queue of loads, and one save of a snapshot at a time. */
export class Capacity {
  readonly timeoutMs: number;
  readonly maxWaiting: number;
  readonly maxBytes: number;
  readonly cache: AggregateCache<
    Cacheable & Pick<Aggregate<never, never, never, never>, 'waiting' | 'roundBytes'>
  >;
  readonly loads: LoadQueue;
  readonly saves = new SaveSlot();
  readonly commandBytes: ByteBudget;

  constructor({
    clock,
    timeoutMs = DEFAULT_TIMEOUT_MS,
    maxWaiting = 1024,
    cacheMaxBytes = 256 * 2 ** 20,
    cacheMaxItems = Infinity,
  }: CapacityOptions) {
    this.timeoutMs = timeoutMs;
    this.maxWaiting = maxWaiting;
    this.maxBytes = cacheMaxBytes;
    this.cache = new AggregateCache({ maxBytes: cacheMaxBytes, maxItems: cacheMaxItems });
    this.loads = new LoadQueue(clock, 2 * timeoutMs);
    this.commandBytes = new ByteBudget(cacheMaxBytes * COMMANDS_SHARE);
  }

  get usage(): AggregatesUsage {
    let mostWaiting = 0;
    let roundBytes = 0;
    for (const aggregate of this.cache.aggregates()) {
      mostWaiting = Math.max(mostWaiting, aggregate.waiting);
      roundBytes = Math.max(roundBytes, aggregate.roundBytes);
    }
    return {
      commandBytes: this.commandBytes.used,
      maxCommandBytes: this.commandBytes.max,
      mostWaiting,
      maxWaiting: this.maxWaiting,
      roundBytes,
      maxRoundBytes: MAX_ROUND_BYTES,
      loadsInProgress: this.loads.inProgress,
      loadsWaiting: this.loads.unstarted,
      // Last: V8 is much slower if so many members follow.
      ...this.cache.usage,
    };
  }
}
