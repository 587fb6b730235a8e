import type { StoreUnavailable } from '../ports/faults';
import type { FeedPosition } from '../ports/feed';
import { type CheckpointStore, headKeyOf, headOfText } from '../ports/checkpoint';
import type { Head } from '../ports/event-store';
import type { OpenEventStore } from '../ports/open-event-store';
import type { StreamName } from '../ports/stream-name';
import { isAppliedUpTo } from './bucket-checkpoint';
import { BucketProjection, type ProjectionContext } from './bucket-projection';
import { Cancellation, type CancelSignal } from './cancellation';
import { CatchUps } from './catch-up';
import type { Lease } from './lease-record';
import { LeasedBuckets } from './leased-buckets';
import type { ProjectionOptions, ProjectionStop, Slice } from './projection-options';
import { POLL_MS, StoreReader } from './store-reader';

/** What a projection needs of an open store. */
export type ProjectedStore = Pick<OpenEventStore, 'store' | 'feed' | 'catalogue' | 'snapshots'>;

/**
 * Applies every event of every stream, in the order of its stream, to a read model: first those that are recorded, then
 * each as it is recorded, until it is closed. Where the consumer stores the checkpoint in the transaction of its data,
 * each event is applied exactly once; otherwise at least once.
 *
 * - The first start, and one after the feed was trimmed, read all streams of the catalogue, after the heads that the
 *   checkpoint has. An unavailable store is read again until it answers.
 * - If `apply` throws, the events are applied one by one until the one that cannot be applied. It stops its bucket only,
 *   which is tried again after at most 30 seconds: see {@link Projection.stops}.
 * - In memory are about 10,000 events for each bucket, or a page of the store if that has more.
 *
 * Throws TypeError if the store has no feed or no catalogue.
 */
export function project<Event, State = never>(
  { store, feed, catalogue, snapshots }: ProjectedStore,
  options: ProjectionOptions<Event, State>,
): Projection<Event, State> {
  if (feed === undefined || catalogue === undefined)
    throw new TypeError('a projection needs a store with a feed and a catalogue');
  const catchUps = new CatchUps<Event, State>(feed, catalogue, options.clock);
  const catchUp = (bucket: BucketProjection<Event, State>) => catchUps.join(bucket);
  return new Projection({ store, snapshots, base: options.base, feed, catalogue, options, catchUp });
}

/**
 * The options for a consumer without transactions: the checkpoint is stored after each batch. If an instance dies between
 * the two, the batch is applied again. Several instances need `leases`: without, each of them applies every batch.
 */
export function atLeastOnce<Event, State = never>(
  checkpoints: CheckpointStore,
  apply: (slices: readonly Slice<Event, State>[]) => Promise<void> | void,
): Pick<ProjectionOptions<Event, State>, 'checkpoint' | 'apply'> {
  return {
    checkpoint: checkpoints,
    async apply({ slices, checkpoint }) {
      if (slices.length > 0) await apply(slices);
      await checkpoints.save(checkpoint);
    },
  };
}

/** The buckets of a projection that does not share them. */
function allOf<Event, State>(
  running: readonly BucketProjection<Event, State>[],
): Pick<LeasedBuckets<Event, State>, 'running' | 'close'> {
  const ended = Promise.all(running.map((bucket) => bucket.run()));
  return {
    running,
    async close() {
      for (const bucket of running) bucket.cancel();
      await ended;
    },
  };
}

/** A projection that runs. See {@link project}. */
export class Projection<Event, State = never> {
  readonly #buckets: Pick<LeasedBuckets<Event, State>, 'running' | 'close'>;
  /** What to call when a key of the checkpoint has moved. */
  readonly #waiting = new Map<string, Set<() => void>>();
  /** Those of {@link waitFor}; `undefined` once closed. */
  #cancellations: Set<Cancellation> | undefined = new Set();

  constructor(private readonly context: Omit<ProjectionContext<Event, State>, 'moved'>) {
    const moved = (keys: Iterable<string>) => {
      for (const key of keys) this.#waiting.get(key)?.forEach((wake) => wake());
    };
    const open = (bucket: number, lease?: Lease) =>
      new BucketProjection(bucket, { ...context, moved }, lease);
    const { leases, clock, observer } = context.options;
    const unavailable = (error: StoreUnavailable) => observer?.unavailable?.(error);
    this.#buckets = leases
      ? new LeasedBuckets(leases, context.feed.buckets, clock, unavailable, open)
      : allOf(this.#numbers.map((bucket) => open(bucket)));
  }

  get #numbers(): readonly number[] {
    return Array.from({ length: this.context.feed.buckets }, (_, bucket) => bucket);
  }

  /** The buckets of this instance that have stopped. */
  get stops(): readonly ProjectionStop[] {
    return this.#buckets.running.flatMap(({ stop }) => stop ?? []);
  }

  /**
   * Resolves with true once all events that were recorded before the call are applied, by any instance; with false if the
   * projection is closed before.
   */
  async caughtUp(): Promise<boolean> {
    const { feed } = this.context;
    const waited = this.#numbers.map(async (bucket) => {
      let end: FeedPosition | undefined;
      return this.#until(String(bucket), undefined, async (text) => {
        const newest = await feed.end(bucket);
        // The feed may have lost its end meanwhile.
        if (end === undefined || newest.sequence < end.sequence) end = newest;
        return isAppliedUpTo(feed, bucket, text, end.sequence);
      });
    });
    return (await Promise.all(waited)).every(Boolean);
  }

  /** Tries all stopped buckets of this instance again, now. */
  retry(): void {
    for (const bucket of this.#buckets.running) bucket.retry();
  }

  /** Leaves out the event at which a bucket of this instance has stopped. False if none has stopped at it. */
  skip(stream: StreamName, version: number): boolean {
    return this.#buckets.running.some((bucket) => bucket.skip(stream, version));
  }

  /**
   * Resolves with true once the events of `stream` up to `head` are applied, by any instance: reads of the read model
   * then include the caller's own writes. Resolves with false when `signal` is aborted, or the projection is closed.
   */
  async waitFor(stream: StreamName, head: Head, signal?: CancelSignal): Promise<boolean> {
    const { feed, store } = this.context;
    return this.#until(headKeyOf(feed.bucketOf(stream), stream), signal, async (text) => {
      const applied = headOfText(text);
      if (applied.version <= head.version)
        return applied.version === head.version && applied.commit === head.commit;
      // It may be of events that a failover has lost.
      return (await store.read(stream, applied)).status !== 'reset';
    });
  }

  /** Resolves with true once `isReached` accepts the value of `key`, which any instance writes. */
  async #until(
    key: string,
    signal: CancelSignal | undefined,
    isReached: (text: string | undefined) => Promise<boolean>,
  ): Promise<boolean> {
    const { options } = this.context;
    const cancellation = new Cancellation(signal);
    const reader = new StoreReader(options.clock, cancellation, undefined);
    this.#cancellations?.add(cancellation);
    try {
      while (this.#cancellations && !cancellation.isCancelled()) {
        const [moved, cancel] = this.#nextMove(key);
        try {
          const reached = await reader.read(async () => isReached((await options.checkpoint.load([key]))[0]));
          if (reached) return true;
          await reader.wait(POLL_MS, (end) => {
            void moved.then(end);
          });
        } finally {
          cancel();
        }
      }
      return false;
    } finally {
      this.#cancellations?.delete(cancellation);
    }
  }

  /** Ends the projection. Resolves when the calls of `apply` in progress have ended; then it holds nothing. */
  async close(): Promise<void> {
    for (const each of this.#cancellations ?? []) each.cancel();
    this.#cancellations = undefined;
    await this.#buckets.close();
  }

  /** Resolves when a batch moves `key`. */
  #nextMove(key: string): [moved: Promise<void>, cancel: () => void] {
    const waiting = this.#waiting.get(key) ?? new Set();
    let wake!: () => void;
    const moved = new Promise<void>((resolve) => (wake = resolve));
    this.#waiting.set(key, waiting.add(wake));
    const cancel = () => {
      waiting.delete(wake);
      if (waiting.size === 0 && this.#waiting.get(key) === waiting) this.#waiting.delete(key);
    };
    return [moved, cancel];
  }
}
