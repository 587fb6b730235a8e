import type { Decider, Decision } from '../decider';
import { LoadQueue } from '../loading/load-queue';
import { SaveSlot } from '../loading/save-slot';
import { parseStreamName, STREAM_NAME_RULE, type StreamName } from '../ports/stream-name';
import { Aggregate, type View } from './aggregate';
import { AggregateCache } from './aggregate-cache';
import type { AggregateOptions } from './aggregate-options';
import { ByteBudget, MAX_ROUND_BYTES } from './request-queue';
import { SafeObserver } from './safe-observer';

/** Default deadline of a request, in milliseconds. */
export const DEFAULT_TIMEOUT_MS = 2000;

export interface AggregatesOptions<Command, Event, State> extends Pick<
  AggregateOptions<Command, Event, State>,
  'store' | 'codec' | 'clock' | 'mintCommit' | 'gather' | 'observer' | 'tracer' | 'footprint' | 'snapshots'
> {
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

/**
 * All streams of one domain: a bounded LRU cache of {@link Aggregate}s, each loaded on its first request.
 *
 * Both methods reject at once with TypeError if the stream's name is invalid, and with `StoreUnavailable` if nothing
 * was written; `execute` also rejects with `OutcomeUnknown`. Any other error is a bug of the store or of `view`.
 */
export class Aggregates<Command, Event, Rejection, State> {
  readonly #cache: AggregateCache<Aggregate<Command, Event, Rejection, State>>;
  readonly #loads: LoadQueue;
  readonly #commandBytes: ByteBudget;
  readonly #maxWaiting: number;

  constructor(
    decider: Decider<Command, Event, Rejection, State>,
    options: AggregatesOptions<Command, Event, State>,
  ) {
    const { timeoutMs = DEFAULT_TIMEOUT_MS, maxWaiting = 1024 } = options;
    const { cacheMaxBytes = 256 * 2 ** 20, cacheMaxItems = Infinity } = options;
    this.#maxWaiting = maxWaiting;
    this.#loads = new LoadQueue(options.clock, 2 * timeoutMs);
    this.#commandBytes = new ByteBudget(cacheMaxBytes * COMMANDS_SHARE);
    const aggregateOptions: AggregateOptions<Command, Event, State> = {
      ...options,
      timeoutMs,
      maxWaiting,
      maxBytes: cacheMaxBytes,
      loads: this.#loads,
      saves: new SaveSlot(),
      commandBytes: this.#commandBytes,
      observer: SafeObserver.of(options.observer),
    };
    this.#cache = new AggregateCache(
      { maxBytes: cacheMaxBytes, maxItems: cacheMaxItems },
      (stream, memory) => new Aggregate(stream, decider, aggregateOptions, memory),
    );
  }

  /** Decides `command` against the stream's state and records its events. */
  execute(stream: StreamName, command: Command): Promise<Decision<Event, Rejection>> {
    return this.#with(stream, (aggregate) => aggregate.execute(command));
  }

  /** Derives a value from the stream's state at a moment after the call. `view` is called once, synchronously. */
  query<T>(stream: StreamName, view: View<State, T>): Promise<T> {
    return this.#with(stream, (aggregate) => aggregate.query(view));
  }

  get usage(): AggregatesUsage {
    let mostWaiting = 0;
    let roundBytes = 0;
    for (const aggregate of this.#cache.aggregates()) {
      mostWaiting = Math.max(mostWaiting, aggregate.waiting);
      roundBytes = Math.max(roundBytes, aggregate.roundBytes);
    }
    return {
      commandBytes: this.#commandBytes.used,
      maxCommandBytes: this.#commandBytes.max,
      mostWaiting,
      maxWaiting: this.#maxWaiting,
      roundBytes,
      maxRoundBytes: MAX_ROUND_BYTES,
      loadsInProgress: this.#loads.inProgress,
      loadsWaiting: this.#loads.unstarted,
      // Last: V8 is 40 times slower if so many members follow.
      ...this.#cache.usage,
    };
  }

  #with<T>(
    stream: StreamName,
    use: (aggregate: Aggregate<Command, Event, Rejection, State>) => Promise<T>,
  ): Promise<T> {
    if (!this.#cache.has(stream) && (typeof stream !== 'string' || parseStreamName(stream) === undefined))
      return Promise.reject(new TypeError(`the name of a stream must be ${STREAM_NAME_RULE}`));
    return use(this.#cache.get(stream));
  }
}
