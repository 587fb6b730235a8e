import { decodeEvent } from '../codec';
import { CheckpointConflict } from '../ports/checkpoint';
import type { Head } from '../ports/event-store';
import { isTransient } from '../ports/faults';
import type { Feed, FeedPosition, FeedReadResult, FeedTrail } from '../ports/feed';
import type { StreamCatalogue } from '../ports/stream-catalogue';
import type { StreamName } from '../ports/stream-name';
import { BucketCheckpoint } from './bucket-checkpoint';
import { Cancellation } from './cancellation';
import { positionOf, withPosition } from './feed-trail';
import type { BucketOrder, Lease, LeasedBucket } from './lease-record';
import { FeedReset, type ProjectionOptions, type ProjectionStop, type Slice } from './projection-options';
import { POLL_MS, StoreReader } from './store-reader';
import { oneEventOf, type PageSource, pageOf, type StreamPage } from './stream-page';

/** Entries of the feed in a page, and streams that are read at a time. */
export const STREAMS_AT_A_TIME = 200;
/** Events in memory for each bucket, if no single page of the store has more. */
const EVENTS_AT_A_TIME = 10_000;
const FIRST_RETRY_MS = 500;
const LAST_RETRY_MS = 30_000;
/** Of the text of an error that stopped a bucket. */
const REPORTED_CHARACTERS = 300;

export interface ProjectionContext<Event, State> extends PageSource<State> {
  readonly feed: Feed;
  readonly catalogue: StreamCatalogue;
  readonly options: ProjectionOptions<Event, State>;
  /** Applies all streams of the bucket from the catalogue, and moves its position to where the feed ended before. */
  readonly catchUp: (bucket: BucketProjection<Event, State>) => Promise<void>;
  /** The checkpoint has new values. */
  readonly moved: (keys: Iterable<string>) => void;
}

/** A stream, the head up to which it was applied, and the version up to which it is to be applied. */
interface Pending {
  readonly stream: StreamName;
  readonly head: Head;
  readonly version: number;
}

class CannotApply extends Error {
  constructor(
    readonly stream: StreamName,
    readonly version: number | undefined,
    override readonly cause: unknown,
  ) {
    super();
  }
}

/**
 * Applies the events of one bucket. All events of a stream are read after the head that the checkpoint has for it, so none
 * of them is skipped or applied twice; the feed only says which streams have new ones.
 */
export class BucketProjection<Event, State> {
  readonly #cancellation = new Cancellation(undefined);
  readonly #checkpoint: BucketCheckpoint;
  readonly #reader: StoreReader;
  /** After a failure, events are applied one by one until the one that fails. */
  #oneByOne = false;
  #skipped: { readonly stream: StreamName; readonly version: number } | undefined;
  #stop: ProjectionStop | undefined;
  #failures = 0;
  #retry = () => {};

  constructor(
    readonly bucket: number,
    private readonly context: ProjectionContext<Event, State>,
    lease?: Lease,
  ) {
    const { clock, checkpoint, observer } = context.options;
    this.#checkpoint = new BucketCheckpoint(bucket, checkpoint, lease);
    this.#reader = new StoreReader(clock, this.#cancellation, (error) => observer?.unavailable?.(error));
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
    this.#skipped = { stream, version };
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

  /** Follows the bucket until it is cancelled, or another instance has a later lease: resolves with its term. */
  async run(): Promise<number | undefined> {
    while (!this.isCancelled()) {
      try {
        await this.#checkpoint.load();
        const { standing } = this.#checkpoint;
        if (typeof standing === 'number') return standing;
        if (standing === 'unclaimed') await this.#move(this.#checkpoint.trail, [], []);
        while (!this.isCancelled()) await this.#follow();
      } catch (error) {
        await this.#pause(error);
      }
    }
    return undefined;
  }

  /** Applies the next page of the feed, or waits for it. */
  async #follow(): Promise<void> {
    const { feed, catchUp } = this.context;
    const { trail, bound, trimmed } = this.#checkpoint;
    if (trail === undefined) return (await this.#confirm(bound)) ? catchUp(this) : undefined;
    const read = () => feed.read(this.bucket, trail, STREAMS_AT_A_TIME);
    const result = trimmed ? ({ status: 'trimmed' } as const) : await this.#reader.read(read);
    if (result === undefined) return;
    if (result.status === 'reset') return this.#recover(trail, result);
    // After the page was read: so both are of one history, and the later one of them bounds all that is applied.
    if (!(await this.#confirm(bound, trail))) return;
    if (result.status === 'trimmed') return this.#recover(trail, result);
    const { entries, more } = result;
    const last = entries.at(-1);
    if (last !== undefined) {
      const versions = new Map(entries.map(({ stream, version }) => [stream, version]));
      await this.advance(versions, withPosition(trail, positionOf(last)));
    }
    if (more) return;
    const after = last ?? trail[0];
    const notify = feed.notify && ((changed: () => void) => feed.notify!(this.bucket, after, changed));
    await this.#reader.untilChanged(notify, last !== undefined);
  }

  /** Whether the feed has the bound, if there is one. */
  async #confirm(bound: FeedPosition | undefined, trail: readonly FeedPosition[] = []): Promise<boolean> {
    if (bound === undefined) return true;
    const result = await this.#reader.read(() => this.context.feed.read(this.bucket, [bound, ...trail], 1));
    if (result === undefined) return false;
    if (result.status === 'read') return true;
    await this.#recover([bound, ...trail], result);
    return false;
  }

  /**
   * The feed does not have a position, so streams of the checkpoint may have lost events: replaces those that differ.
   * Continues after the newest position that is left, or reads all streams. Until then the checkpoint has a position that
   * the feed does not have, or says that the feed was trimmed, so an instance that dies meanwhile does this again.
   */
  async #recover(lost: FeedTrail, result: Exclude<FeedReadResult, { status: 'read' }>): Promise<void> {
    const { catalogue, options } = this.context;
    const shared = result.status === 'reset' ? result.shared : undefined;
    if (result.status === 'reset') {
      const tail = { bucket: this.bucket, shared };
      if (options.lostTail === undefined) throw new FeedReset(tail);
      await options.lostTail(tail);
    }
    const { bound } = this.#checkpoint;
    const trimmed = result.status === 'trimmed' || undefined;
    this.#checkpoint.set({ trail: lost, bound: trimmed && bound !== lost[0] ? bound : undefined, trimmed });
    for (const streams = await this.#checkpoint.streams(); streams.length > 0;) {
      const some = streams.splice(-STREAMS_AT_A_TIME);
      const found = await this.#reader.read(() => Promise.all(some.map((stream) => catalogue.find(stream))));
      if (found === undefined) return;
      const versions = some.map((stream, index) => [stream, found[index]?.version ?? 0] as const);
      if (!(await this.applyListed(new Map(versions)))) return;
    }
    const index = lost.findIndex(({ sequence }) => sequence === shared?.sequence);
    const [newest, ...older] = index < 0 ? [] : lost.slice(index);
    if (newest === undefined) this.#checkpoint.set({ trail: undefined, trimmed: undefined });
    else await this.advance(new Map(), [newest, ...older]);
  }

  /**
   * Applies all events of `streams` up to versions that the catalogue has just returned. The end of the feed is noted
   * after that, so it bounds what is applied. False, without effect, if the feed has lost the bound before it, or cannot
   * be read.
   */
  async applyListed(streams: ReadonlyMap<StreamName, number>): Promise<boolean> {
    const { feed } = this.context;
    const { bound } = this.#checkpoint;
    const end = await this.#reader.read(() => feed.end(this.bucket));
    if (end === undefined) return false;
    const known = bound && (await this.#reader.read(() => feed.read(this.bucket, [bound], 1)));
    if (bound && known?.status !== 'read') return false;
    this.#checkpoint.set({ bound: end });
    await this.advance(streams);
    return !this.isCancelled();
  }

  /**
   * Applies the events of `streams` up to these versions. Then moves the position to `trail`, if there is one. Without
   * effect once cancelled.
   */
  async advance(streams: ReadonlyMap<StreamName, number>, trail?: FeedTrail): Promise<void> {
    if (trail !== undefined) this.#checkpoint.raiseBound(trail[0]);
    let pending = await this.#pending(streams);
    do {
      const group = this.#firstOf(pending);
      const pages = await this.#reader.read(() => Promise.all(group.map((each) => this.#read(each))));
      if (this.isCancelled()) return;
      if (pages === undefined) continue;
      const unread = pages.filter(({ more }) => more);
      const isLast = group.length === pending.length && unread.length === 0;
      if (!(await this.#apply(pages, (isLast ? trail : undefined) ?? this.#checkpoint.trail))) continue;
      if (isLast) break;
      pending = [...unread, ...pending.slice(group.length)];
    } while (!this.isCancelled());
    this.#oneByOne = false;
  }

  /** The streams that the projection follows, as the checkpoint has them. */
  async #pending(streams: ReadonlyMap<StreamName, number>): Promise<Pending[]> {
    const { follows } = this.context.options;
    const followed = [...streams].filter(([stream]) => follows?.(stream) ?? true);
    const heads = await this.#checkpoint.heads(followed.map(([stream]) => stream));
    return followed.map(([stream, version], index) => ({ stream, version, head: heads[index]! }));
  }

  /** The first streams, with about {@link EVENTS_AT_A_TIME} new events together. */
  #firstOf(pending: readonly Pending[]): readonly Pending[] {
    let events = 0;
    const end = pending.findIndex(({ head, version }, index) => {
      events += Math.max(1, version - head.version);
      return index > 0 && (this.#oneByOne || events > EVENTS_AT_A_TIME);
    });
    return end < 0 ? pending : pending.slice(0, end);
  }

  async #read({ stream, head, version }: Pending): Promise<StreamPage<State> & Pending> {
    try {
      const page = await pageOf(this.context, stream, head, version);
      return { ...(this.#oneByOne ? oneEventOf(page) : page), version };
    } catch (error) {
      throw isTransient(error) ? error : new CannotApply(stream, undefined, error);
    }
  }

  /** Applies pages and moves the checkpoint, at once. False if it failed, and the same pages are to be read one by one. */
  async #apply(pages: readonly StreamPage<State>[], trail: FeedTrail | undefined): Promise<boolean> {
    const { options } = this.context;
    const changed = pages.filter(({ restarts, events }) => restarts || events.length > 0);
    if (changed.length === 0 && trail === this.#checkpoint.trail) return true;
    const ignores = options.from === 'end' && !this.#checkpoint.started;
    try {
      await this.#move(trail, changed, ignores ? [] : changed.map((page) => this.#slice(page)));
    } catch (error) {
      const [first, ...others] = changed;
      if (error instanceof CheckpointConflict || isTransient(error) || first === undefined) throw error;
      if (others.length === 0 && first.events.length <= 1)
        throw new CannotApply(first.stream, first.events[0]?.version, error);
      this.#oneByOne = true;
      return false;
    }
    this.#stop = undefined;
    this.#failures = 0;
    if (changed.some(({ stream }) => stream === this.#skipped?.stream)) this.#skipped = undefined;
    const events = changed.reduce((sum, page) => sum + page.events.length, 0);
    options.observer?.applied?.(this.bucket, events);
    if (options.gather) await new Promise<void>(options.gather);
    return true;
  }

  async #move(
    trail: FeedTrail | undefined,
    pages: readonly StreamPage<State>[],
    slices: readonly Slice<Event, State>[],
  ): Promise<void> {
    await this.#checkpoint.move(trail, pages, async (checkpoint) => {
      await this.context.options.apply({ slices, checkpoint });
      this.context.moved(checkpoint.values.keys());
    });
  }

  #slice({ stream, restarts, base, events }: StreamPage<State>): Slice<Event, State> {
    const skipped = this.#skipped?.stream === stream ? this.#skipped.version : undefined;
    const decoded = events
      .filter(({ version }) => version !== skipped)
      .map((stored) => ({ ...stored, event: decodeEvent(this.context.options.codec, stored) }));
    return { stream, restarts, base, events: decoded };
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
      return () => {};
    });
  }
}
