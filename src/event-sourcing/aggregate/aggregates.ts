import type { Decider, Decision } from '../decider';
import { parseStreamName, STREAM_NAME_RULE, type StreamName } from '../ports/stream-name';
import { Aggregate, type View } from './aggregate';
import type { AggregateOptions } from './aggregate-options';
import { type AggregatesUsage, Capacity, type CapacityOptions } from './capacity';
import { SafeObserver } from './safe-observer';
import type { AggregateMemory } from './stream-state';

export interface AggregatesOptions<Command, Event, State>
  extends
    CapacityOptions,
    Pick<
      AggregateOptions<Command, Event, State>,
      'store' | 'codec' | 'mintCommit' | 'gather' | 'observer' | 'tracer' | 'footprint' | 'snapshots'
    > {
  /** Shared with the aggregates of other kinds, in place of the limits here. The names of their streams must differ. */
  readonly capacity?: Capacity | undefined;
}

/**
 * All streams of one domain: a bounded LRU cache of {@link Aggregate}s, each loaded on its first request.
 *
 * Both methods reject at once with TypeError if the stream's name is invalid, and with `StoreUnavailable` if nothing
 * was written; `execute` also rejects with `OutcomeUnknown`. Any other error is a bug of the store or of `view`.
 */
export class Aggregates<Command, Event, Rejection, State> {
  readonly #capacity: Capacity;
  readonly #open: (
    stream: StreamName,
    memory: AggregateMemory,
  ) => Aggregate<Command, Event, Rejection, State>;

  constructor(
    decider: Decider<Command, Event, Rejection, State>,
    options: AggregatesOptions<Command, Event, State>,
  ) {
    this.#capacity = options.capacity ?? new Capacity(options);
    const { timeoutMs, maxWaiting, maxBytes, loads, saves, commandBytes } = this.#capacity;
    const aggregateOptions: AggregateOptions<Command, Event, State> = {
      ...options,
      timeoutMs,
      maxWaiting,
      maxBytes,
      loads,
      saves,
      commandBytes,
      observer: SafeObserver.of(options.observer),
    };
    this.#open = (stream, memory) => new Aggregate(stream, decider, aggregateOptions, memory);
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
    return this.#capacity.usage;
  }

  #with<T>(
    stream: StreamName,
    use: (aggregate: Aggregate<Command, Event, Rejection, State>) => Promise<T>,
  ): Promise<T> {
    const { cache } = this.#capacity;
    if (!cache.has(stream) && (typeof stream !== 'string' || parseStreamName(stream) === undefined))
      return Promise.reject(new TypeError(`the name of a stream must be ${STREAM_NAME_RULE}`));
    return use(cache.get(stream, this.#open));
  }
}
