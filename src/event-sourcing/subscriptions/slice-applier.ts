import { recordedEvent } from '../codec';
import { CheckpointConflict } from '../ports/checkpoint';
import type { Head } from '../ports/event-store';
import { isTransient } from '../ports/faults';
import type { FeedTrail } from '../ports/feed';
import type { StreamName } from '../ports/stream-name';
import type { BucketCheckpoint } from './bucket-checkpoint';
import type { Cancellation } from './cancellation';
import type { ProjectionOptions, Slice } from './projection-options';
import type { StoreReader } from './store-reader';
import { oneEventOf, type PageSource, pageOf, type StreamPage } from './stream-page';

/** Events in memory for each bucket, if no single page of the store has more. */
const EVENTS_AT_A_TIME = 10_000;

export interface ApplierContext<Event, State> extends PageSource<State> {
  readonly options: ProjectionOptions<Event, State>;
  /** The checkpoint has new values. */
  readonly moved: (keys: Iterable<string>) => void;
}

/** What the reader of a bucket's feed and the applier of its events share. */
interface BucketParts {
  readonly checkpoint: BucketCheckpoint;
  readonly reader: StoreReader;
  readonly cancellation: Cancellation;
  /** Called after each batch that was applied. */
  readonly applied: () => void;
  /** Called before what was applied of a stream is replaced. Nothing is applied if it resolves with false. */
  readonly replaces: () => Promise<boolean>;
}

/** A stream, the head up to which it was applied, and the version up to which it is to be applied. */
interface Pending {
  readonly stream: StreamName;
  readonly head: Head;
  readonly version: number;
}

/** The event at which a bucket stops; without a version, the stream. */
export class CannotApply extends Error {
  constructor(
    readonly stream: StreamName,
    readonly version: number | undefined,
    override readonly cause: unknown,
  ) {
    super();
  }
}

/** Reads the events of streams of one bucket after the heads of its checkpoint, and applies them. */
export class SliceApplier<Event, State> {
  /** After a failure, events are applied one by one until the one that fails. */
  #oneByOne = false;
  #skipped: { readonly stream: StreamName; readonly version: number } | undefined;

  constructor(
    private readonly bucket: number,
    private readonly context: ApplierContext<Event, State>,
    private readonly parts: BucketParts,
  ) {}

  /** Leaves out this event. */
  skip(stream: StreamName, version: number): void {
    this.#skipped = { stream, version };
  }

  /**
   * Applies the events of `streams` up to these versions. Then moves the position to `trail`, if there is one. Without
   * effect once cancelled.
   */
  async advance(streams: ReadonlyMap<StreamName, number>, trail?: FeedTrail): Promise<void> {
    if (trail !== undefined) this.parts.checkpoint.raiseBound(trail[0]);
    let pending = await this.#pending(streams);
    do {
      const group = this.#firstOf(pending);
      const pages = await this.parts.reader.read(() => Promise.all(group.map((each) => this.#read(each))));
      if (pages === undefined) continue;
      const unread = pages.filter(({ more }) => more);
      const isLast = group.length === pending.length && unread.length === 0;
      if (!(await this.#apply(pages, (isLast ? trail : undefined) ?? this.parts.checkpoint.trail))) continue;
      if (isLast) break;
      pending = [...unread, ...pending.slice(group.length)];
    } while (!this.parts.cancellation.isCancelled());
    this.#oneByOne = false;
  }

  /** The streams that the projection follows, as the checkpoint has them. */
  async #pending(streams: ReadonlyMap<StreamName, number>): Promise<Pending[]> {
    const { follows } = this.context.options;
    const followed = [...streams].filter(([stream]) => follows?.(stream) ?? true);
    const heads = await this.parts.checkpoint.heads(followed.map(([stream]) => stream));
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
    if (changed.length === 0 && trail === this.parts.checkpoint.trail) return true;
    if (changed.some(({ replaces }) => replaces) && !(await this.parts.replaces())) return false;
    const ignores = options.from === 'end' && !this.parts.checkpoint.started;
    try {
      await this.move(trail, changed, ignores ? [] : changed.map((page) => this.#slice(page)));
    } catch (error) {
      const [first, ...others] = changed;
      if (error instanceof CheckpointConflict || isTransient(error) || first === undefined) throw error;
      if (others.length === 0 && first.events.length <= 1)
        throw new CannotApply(first.stream, first.events[0]?.version, error);
      this.#oneByOne = true;
      return false;
    }
    this.parts.applied();
    if (changed.some(({ stream }) => stream === this.#skipped?.stream)) this.#skipped = undefined;
    const events = changed.reduce((sum, page) => sum + page.events.length, 0);
    options.observer?.applied?.(this.bucket, events);
    if (options.gather) await new Promise<void>(options.gather);
    return true;
  }

  /** Applies slices, and moves the checkpoint to `trail` and past `pages`. Rejects as `options.apply` does. */
  async move(
    trail: FeedTrail | undefined,
    pages: readonly StreamPage<State>[],
    slices: readonly Slice<Event, State>[],
  ): Promise<void> {
    await this.parts.checkpoint.move(trail, pages, async (checkpoint) => {
      await this.context.options.apply({ slices, checkpoint });
      this.context.moved(checkpoint.values.keys());
    });
  }

  #slice({ stream, restarts, base, events }: StreamPage<State>): Slice<Event, State> {
    const skipped = this.#skipped?.stream === stream ? this.#skipped.version : undefined;
    const decoded = events
      .filter(({ version }) => version !== skipped)
      .map((stored) => recordedEvent(this.context.options.codec, stored));
    return { stream, restarts, base, events: decoded };
  }
}
