import type { Codec, RecordedEvent, StateCodec } from '../codec';
import type { Checkpoint, CheckpointWrite } from '../ports/checkpoint';
import type { Clock } from '../ports/clock';
import type { StoreUnavailable } from '../ports/faults';
import type { FeedPosition } from '../ports/feed';
import type { LeaseStore } from '../ports/lease-store';
import type { StreamName } from '../ports/stream-name';

/** Consecutive events of one stream. */
export interface Slice<Event, State = never> {
  readonly stream: StreamName;
  /**
   * Whether it is the beginning of the stream: it replaces all that was applied of the stream before. It has no events
   * if the stream was erased or lost.
   */
  readonly restarts: boolean;
  /** The state that the stream begins with, if its first events were archived; then `events` is empty. */
  readonly base?: State | undefined;
  readonly events: readonly RecordedEvent<Event>[];
}

export interface Batch<Event, State = never> {
  /** At most one for each stream. Empty if only the checkpoint moves. */
  readonly slices: readonly Slice<Event, State>[];
  readonly checkpoint: CheckpointWrite;
}

/** The end of a bucket was lost in a failover, or an older state was restored. */
export interface LostTail {
  readonly bucket: number;
  /** The newest known position that is still in the feed; `undefined` if there is none. */
  readonly shared: FeedPosition | undefined;
}

/** A bucket that does not advance. It is tried again after at most 30 seconds. */
export interface ProjectionStop {
  readonly bucket: number;
  /** The stream that cannot be read, or whose event cannot be applied. */
  readonly stream?: StreamName | undefined;
  /** The version of the event that cannot be applied. */
  readonly version?: number | undefined;
  readonly error: unknown;
}

/** Its methods must not throw. */
export interface ProjectionObserver {
  /** The store became unavailable: reads are repeated. */
  unavailable?(error: StoreUnavailable): void;
  /** A bucket has stopped, or an attempt to continue has failed. */
  stopped?(stop: ProjectionStop): void;
  /** A batch with so many events was applied. */
  applied?(bucket: number, events: number): void;
}

export interface LeaseOptions {
  readonly store: LeaseStore;
  /** The name of the projection. A version that is built beside another one has another name. */
  readonly projection: string;
  /** Names the instance among those that run, for example by its host and process. Not empty. */
  readonly instance: string;
  /** Within this time others take over the buckets of an instance that died, in ms; 10 seconds by default. */
  readonly takeOverMs?: number | undefined;
}

export interface ProjectionOptions<Event, State = never> {
  readonly codec: Codec<Event>;
  readonly clock: Clock;
  /**
   * Calls `start` after other work of the process, which a store and a consumer without I/O would block. It is called
   * after each batch; the next one begins with `start`. By default it begins at once.
   */
  readonly gather?: ((start: () => void) => void) | undefined;
  readonly checkpoint: Checkpoint;
  /**
   * Applies the events of all slices, and stores the checkpoint: in one transaction, each event is applied exactly once.
   * One call at a time for each bucket.
   */
  apply(batch: Batch<Event, State>): Promise<void> | void;
  /** `end`: events that are recorded before the first start are not applied. */
  readonly from?: 'beginning' | 'end' | undefined;
  /** The streams whose events are applied; all by default. */
  readonly follows?: ((stream: StreamName) => boolean) | undefined;
  /** Decodes the base of archived streams. Without it, an archived stream stops its bucket. */
  readonly base?: { readonly codec: StateCodec<State>; initialState(): State } | undefined;
  /**
   * Called when the end of a bucket was lost. Then the projection compares every stream that it knows with the store, and
   * replaces those that differ. Without it, or if it throws, the bucket stops. Where the feed was trimmed, a stream that
   * was erased, and not in the read model, is such a loss too.
   */
  readonly lostTail?: ((lost: LostTail) => Promise<void> | void) | undefined;
  readonly observer?: ProjectionObserver | undefined;
  /** Lets several instances share the buckets. By default, each instance works on all of them. */
  readonly leases?: LeaseOptions | undefined;
}

/** Why a bucket stopped: the end of its feed was lost, and the consumer does not replace streams by itself. */
export class FeedReset extends Error {
  override readonly name = 'FeedReset';

  constructor(readonly lost: LostTail) {
    const { bucket, shared } = lost;
    const after = shared === undefined ? 'no known position' : `position ${shared.sequence}`;
    super(`the feed of bucket ${bucket} has lost its end: events applied after ${after} may not be recorded`);
  }
}
