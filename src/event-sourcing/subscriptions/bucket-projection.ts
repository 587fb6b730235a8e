import { CheckpointConflict } from '../ports/checkpoint';
import { isTransient } from '../ports/faults';
import type { Feed, FeedPosition, FeedReadResult, FeedTrail } from '../ports/feed';
import type { StreamCatalogue } from '../ports/stream-catalogue';
import type { StreamName } from '../ports/stream-name';
import { BucketCheckpoint } from './bucket-checkpoint';
import { Cancellation } from './cancellation';
import { positionOf, withPosition } from './feed-trail';
import type { BucketOrder, Lease, LeasedBucket } from './lease-record';
import { FeedReset, type ProjectionStop } from './projection-options';
import { type ApplierContext, CannotApply, SliceApplier } from './slice-applier';
import { CHECK_MS, POLL_MS, StoreReader } from './store-reader';

/** Entries of the feed in a page, and streams that are read at a time. */
export const STREAMS_AT_A_TIME = 200;
const FIRST_RETRY_MS = 500;
const LAST_RETRY_MS = 30_000;
/** Of the text of an error that stopped a bucket. */
const REPORTED_CHARACTERS = 300;

export interface ProjectionContext<Event, State> extends ApplierContext<Event, State> {
  readonly feed: Feed;
  readonly catalogue: StreamCatalogue;
  /** Applies all streams of the bucket from the catalogue, and moves its position to where the feed ended before. */
  readonly catchUp: (bucket: BucketProjection<Event, State>) => Promise<void>;
}

/**
 * Applies the events of one bucket. All events of a stream are read after the head that the checkpoint has for it, so none
 * of them is skipped or applied twice; the feed only says which streams have new ones.
 */
export class BucketProjection<Event, State> {
  readonly #cancellation = new Cancellation(undefined);
  readonly #checkpoint: BucketCheckpoint;
  readonly #reader: StoreReader;
  readonly #applier: SliceApplier<Event, State>;
  #stop: ProjectionStop | undefined;
  #failures = 0;
  /** Where the feed ended when the consumer was informed of the loss after which streams are compared. */
  #reported: FeedPosition | undefined;
  #retry = () => {};

  constructor(
    readonly bucket: number,
    private readonly context: ProjectionContext<Event, State>,
    lease?: Lease,
  ) {
    const { clock, checkpoint, observer } = context.options;
    this.#checkpoint = new BucketCheckpoint(bucket, checkpoint, lease);
    this.#reader = new StoreReader(clock, this.#cancellation, (error) => observer?.unavailable?.(error));
    this.#applier = new SliceApplier(bucket, context, {
      ...{ checkpoint: this.#checkpoint, reader: this.#reader, cancellation: this.#cancellation },
      applied: () => {
        this.#stop = undefined;
        this.#failures = 0;
      },
      replaces: () => this.#replaces(),
    });
  }

  get stop(): ProjectionStop | undefined {
    return this.#stop;
  }

  isCancelled(): boolean {
    return this.#cancellation.isCancelled();
  }

  cancel(): void {
    this.#cancellation.cancel();
  }

  retry(): void {
    this.#retry();
  }

  /** Leaves out the event that cannot be applied. False if the bucket has not stopped at it. */
  skip(stream: StreamName, version: number): boolean {
    if (this.#stop?.stream !== stream || this.#stop.version !== version) return false;
    this.#applier.skip(stream, version);
    this.#retry();
    return true;
  }

  /** What an operator sees of the bucket. */
  get report(): Pick<LeasedBucket, 'position' | 'stop'> {
    const { stream, version, error } = this.#stop ?? {};
    const position = this.#checkpoint.trail?.[0].sequence;
    return this.#stop
      ? { position, stop: { stream, version, error: String(error).slice(0, REPORTED_CHARACTERS) } }
      : { position };
  }

  obey(order: BucketOrder): void {
    if (order === 'retry') this.retry();
    else this.skip(order.skip.stream as StreamName, order.skip.version);
  }

  /**
   * Follows the bucket until it is cancelled, or another instance has a later lease: resolves with its term. The checkpoint
   * is loaded again and again: a batch that an instance began before it died may be applied later, and only the checkpoint
   * says so while there is nothing to write.
   */
  async run(): Promise<number | undefined> {
    const { clock } = this.context.options;
    while (!this.isCancelled()) {
      try {
        await this.#checkpoint.load();
        const { standing } = this.#checkpoint;
        if (typeof standing === 'number') return standing;
        if (standing === 'unclaimed') await this.#applier.move(this.#checkpoint.trail, [], []);
        const end = clock.now() + CHECK_MS;
        while (!this.isCancelled() && clock.now() < end) await this.#follow();
      } catch (error) {
        await this.#pause(error);
      }
    }
    return undefined;
  }

  /** Applies the next page of the feed, or waits for it. */
  async #follow(): Promise<void> {
    const { feed, catchUp } = this.context;
    const { trail } = this.#checkpoint;
    const read = () => feed.read(this.bucket, trail!, STREAMS_AT_A_TIME);
    const result = trail && (await this.#reader.read(read));
    if (result?.status === 'reset') return this.#recover(result);
    if (trail && result === undefined) return;
    // After the page was read: so both are of one history, and the later one of them bounds all that is applied.
    if (!(await this.#confirm())) return;
    if (result?.status === 'trimmed') return this.#compare(undefined);
    if (this.#checkpoint.comparing) return this.#compare(trail?.[0]);
    if (trail === undefined || result === undefined) return catchUp(this);
    // The feed has all positions of the checkpoint.
    this.#reported = undefined;
    const { entries, more } = result;
    const last = entries.at(-1);
    if (last !== undefined) {
      const versions = new Map(entries.map(({ stream, version }) => [stream, version]));
      await this.#applier.advance(versions, withPosition(trail, positionOf(last)));
    }
    if (more) return;
    const after = last ?? trail[0];
    const notify = feed.notify && ((changed: () => void) => feed.notify!(this.bucket, after, changed));
    await this.#reader.untilChanged(notify, last !== undefined);
  }

  /** Whether the feed has the bound, if there is one. */
  async #confirm(): Promise<boolean> {
    const { bound, trail = [] } = this.#checkpoint;
    if (bound === undefined) return true;
    const result = await this.#reader.read(() => this.context.feed.read(this.bucket, [bound, ...trail], 1));
    if (result === undefined) return false;
    if (result.status === 'read') return true;
    await this.#recover(result);
    return false;
  }

  /** The feed does not have the position or the bound, so streams of the checkpoint may have lost events. */
  async #recover(result: Exclude<FeedReadResult, { status: 'read' }>): Promise<void> {
    const shared = result.status === 'reset' ? result.shared : undefined;
    if (result.status === 'reset' && !(await this.#report(shared))) return;
    this.#checkpoint.set({ bound: undefined });
    await this.#compare(shared);
  }

  /**
   * Called before streams are replaced. If the feed has the last known position, they were erased, or their loss was
   * reported. Otherwise the feed was trimmed, or has lost its end again. Only the streams show this loss, so it is reported
   * here. False once cancelled.
   */
  async #replaces(): Promise<boolean> {
    const { bound, comparing } = this.#checkpoint;
    const kept = comparing ? this.#reported : bound;
    const known = kept && (await this.#reader.read(() => this.context.feed.read(this.bucket, [kept], 1)));
    if (known?.status === 'read') return true;
    if (this.isCancelled()) return false;
    return this.#report(undefined);
  }

  /** False once cancelled. */
  async #report(shared: FeedPosition | undefined): Promise<boolean> {
    const { feed, options } = this.context;
    const lost = { bucket: this.bucket, shared };
    if (options.lostTail === undefined) throw new FeedReset(lost);
    // Before: what is lost later is another loss.
    const end = await this.#reader.read(() => feed.end(this.bucket));
    if (end === undefined) return false;
    await options.lostTail(lost);
    this.#reported = end;
    return true;
  }

  /**
   * Replaces the streams of the checkpoint that differ from the store. Then continues after `shared`, a position of the
   * trail that the feed has. Without one, all streams are read. The checkpoint has `comparing` until all streams are
   * compared, so an interrupted instance compares them again.
   */
  async #compare(shared: FeedPosition | undefined): Promise<void> {
    const { catalogue } = this.context;
    this.#checkpoint.set({ comparing: true });
    for (const streams = await this.#checkpoint.streams(); streams.length > 0;) {
      const some = streams.splice(-STREAMS_AT_A_TIME);
      const found = await this.#reader.read(() => Promise.all(some.map((stream) => catalogue.find(stream))));
      if (found === undefined) return;
      const versions = some.map((stream, index) => [stream, found[index]?.version ?? 0] as const);
      if (!(await this.applyListed(new Map(versions)))) return;
    }
    const { trail = [] } = this.#checkpoint;
    const index = trail.findIndex(({ sequence }) => sequence === shared?.sequence);
    const [newest, ...older] = index < 0 ? [] : trail.slice(index);
    this.#checkpoint.set({ comparing: undefined });
    this.#reported = undefined;
    if (newest === undefined) this.#checkpoint.set({ trail: undefined });
    else await this.moveTo([newest, ...older]);
  }

  /**
   * Applies all events of `streams` up to versions that the catalogue has just returned. The end of the feed is read after
   * them, so it is a bound of what is applied. False, without effect, if the feed cannot be read, or does not have the
   * earlier bound.
   */
  async applyListed(streams: ReadonlyMap<StreamName, number>): Promise<boolean> {
    const { feed } = this.context;
    const { bound } = this.#checkpoint;
    const end = await this.#reader.read(() => feed.end(this.bucket));
    if (end === undefined) return false;
    if (bound !== undefined) {
      const known = await this.#reader.read(() => feed.read(this.bucket, [bound], 1));
      if (known?.status !== 'read') return false;
    }
    this.#checkpoint.set({ bound: end });
    await this.#applier.advance(streams);
    return !this.isCancelled();
  }

  /** Moves the position, where nothing is to be applied before it. */
  moveTo(trail: FeedTrail): Promise<void> {
    return this.#applier.advance(new Map(), trail);
  }

  async #pause(error: unknown): Promise<void> {
    const { observer } = this.context.options;
    if (error instanceof CheckpointConflict) return this.#reader.wait(POLL_MS);
    if (isTransient(error)) {
      observer?.unavailable?.(error);
      return this.#reader.wait(error.retryAfterMs ?? POLL_MS);
    }
    const { stream, version, cause } =
      error instanceof CannotApply ? error : { stream: undefined, version: undefined, cause: error };
    this.#stop = { bucket: this.bucket, stream, version, error: cause };
    observer?.stopped?.(this.#stop);
    const ms = Math.min(FIRST_RETRY_MS * 2 ** this.#failures++, LAST_RETRY_MS);
    await this.#reader.wait(ms, (end) => {
      this.#retry = end;
    });
  }
}
