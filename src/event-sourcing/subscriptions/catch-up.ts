import type { Clock } from '../ports/clock';
import type { Feed, FeedPosition } from '../ports/feed';
import type { StreamCatalogue } from '../ports/stream-catalogue';
import type { StreamName } from '../ports/stream-name';
import { type BucketProjection, STREAMS_AT_A_TIME } from './bucket-projection';
import { Cancellation } from './cancellation';
import { inTime } from './store-reader';

interface CatchingUp<Event, State> {
  readonly bucket: BucketProjection<Event, State>;
  readonly end: FeedPosition;
  readonly streams: Map<StreamName, number>;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

/** Applies all streams of the catalogue. Buckets that wait at the same time share one pass over it. */
export class CatchUps<Event, State> {
  #waiting: Omit<CatchingUp<Event, State>, 'end' | 'streams'>[] = [];
  #passes = Promise.resolve();

  constructor(
    private readonly feed: Feed,
    private readonly catalogue: StreamCatalogue,
    private readonly clock: Clock,
  ) {}

  /**
   * Applies all streams of a bucket. Then moves its position to where the feed ended before: what was appended meanwhile
   * follows in the feed, and the heads say which of it was applied. Rejects with the errors of the store and of the bucket.
   */
  join(bucket: BucketProjection<Event, State>): Promise<void> {
    return new Promise((resolve, reject) => {
      if (this.#waiting.push({ bucket, resolve, reject }) > 1) return;
      this.#passes = this.#passes.then(() => this.#pass());
    });
  }

  async #pass(): Promise<void> {
    const waiting = this.#waiting;
    this.#waiting = [];
    try {
      const members = new Map<number, CatchingUp<Event, State>>();
      for (const each of waiting) {
        const end = await this.#inTime(() => this.feed.end(each.bucket.bucket));
        members.set(each.bucket.bucket, { ...each, end, streams: new Map() });
      }
      await this.#applyAll(members);
    } catch (error) {
      for (const { reject } of waiting) reject(error);
    }
  }

  async #applyAll(members: Map<number, CatchingUp<Event, State>>): Promise<void> {
    for await (const found of this.#streams()) {
      if (members.size === 0) return;
      if ('foreign' in found) continue;
      const bucket = this.feed.bucketOf(found.stream);
      const member = members.get(bucket);
      if (member === undefined) continue;
      member.streams.set(found.stream, found.version);
      if (member.streams.size === STREAMS_AT_A_TIME && !(await this.#apply(member))) members.delete(bucket);
    }
    for (const member of members.values()) await this.#apply(member, member.end);
  }

  /** The streams of the catalogue. */
  async *#streams() {
    const streams = this.catalogue.streams()[Symbol.asyncIterator]();
    try {
      for (;;) {
        const next = await this.#inTime(() => streams.next());
        if (next.done === true) return;
        yield next.value;
      }
    } finally {
      streams.return?.().catch(() => {});
    }
  }

  async #inTime<T>(read: () => Promise<T>): Promise<T> {
    return (await inTime(this.clock, read, new Cancellation(undefined))) as T;
  }

  /** Applies the streams found so far. At the `end`, or if the bucket fails or is cancelled, it leaves the pass: false. */
  async #apply(
    { bucket, streams, resolve, reject }: CatchingUp<Event, State>,
    end?: FeedPosition,
  ): Promise<boolean> {
    try {
      const applied = await bucket.applyListed(streams);
      streams.clear();
      if (applied && end === undefined) return true;
      if (applied && end !== undefined) await bucket.moveTo([end]);
      resolve();
    } catch (error) {
      reject(error);
    }
    return false;
  }
}
