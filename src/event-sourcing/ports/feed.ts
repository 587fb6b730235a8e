import type { StreamName } from './stream-name';

/**
 * A position in the feed of a bucket: a sequence number, and the commit that has it. The commit and its attempt distinguish
 * feeds that reached the same number after a failover lost the last entries of the first.
 */
export interface FeedPosition {
  /** 0 at the beginning. Each commit of the bucket has a higher number than the one before it. */
  readonly sequence: number;
  /** The commit id of the append; empty at the beginning. */
  readonly commit: string;
  /**
   * Distinguishes the entry from that of the same append at another time. If a failover loses the end of the feed, an append
   * without a reply is repeated, and its new entry may have the same number. Absent in a store that never loses an entry.
   */
  readonly attempt?: string;
}

/** The position before the first entry of a feed. */
export const FEED_BEGINNING: FeedPosition = { sequence: 0, commit: '' };

/** One append: its commit recorded the events of `stream` up to `version`. */
export interface FeedEntry extends FeedPosition {
  readonly stream: StreamName;
  readonly version: number;
}

/**
 * The checkpoint of a consumer in one bucket: the position of the last entry that it has processed, then older ones, the
 * newest first. They are looked up only if the first one is not in the feed any more. See `withPosition`.
 */
export type FeedTrail = readonly [after: FeedPosition, ...older: readonly FeedPosition[]];

export type FeedReadResult =
  | {
      readonly status: 'read';
      readonly entries: readonly FeedEntry[];
      /** Whether reading after the last entry yields more; a page with `more` is not empty. */
      readonly more: boolean;
    }
  | {
      /**
       * The position is not in the feed: the end of the feed was lost in a failover, or an older state was restored. What
       * the caller has processed after `shared` may not be recorded.
       */
      readonly status: 'reset';
      /** The newest position of the trail that reading can continue after; `undefined` if there is none. */
      readonly shared: FeedPosition | undefined;
    }
  /** Entries after the position were trimmed: read the streams themselves, see {@link Feed}. */
  | { readonly status: 'trimmed' };

/**
 * Port: all commits of a store in one order for each bucket, for consumers that follow every stream. It is separate from
 * the event store, because requests do not need it. Optional for a store.
 *
 * - The streams are divided into {@link buckets}. The commits of a bucket have one order, also those of different streams.
 * - An entry is visible at the same moment as its events: a caller that has read an entry can read its events, and no entry
 *   appears later before one that was read. An append that is repeated has one entry, and one that wrote nothing has none.
 * - A read that starts after an append was acknowledged sees its entry, also through another store on the same place.
 * - The feed keeps a limited number of entries. A store may have streams without entries, which an earlier version wrote.
 *   So a consumer begins at the {@link end}, then reads all streams of the catalogue, and then the feed after that
 *   position, ignoring versions that it has; the same after `trimmed`, or a `reset` without `shared`.
 * - `StreamCatalogue.erase` removes the entries of the stream, and changes no position of others.
 *
 * Rejects with `StoreUnavailable`.
 */
export interface Feed {
  /** The number of buckets, which never changes: a consumer has one position in each of 0 … `buckets` − 1. */
  readonly buckets: number;

  /** The bucket of a stream. */
  bucketOf(stream: StreamName): number;

  /** Up to `limit` entries after the first position of `trail`; by default, as many as the store chooses. */
  read(bucket: number, trail: FeedTrail, limit?: number): Promise<FeedReadResult>;

  /** The position of the newest entry, also if it was erased. */
  end(bucket: number): Promise<FeedPosition>;

  /**
   * Calls `changed` once the bucket may have entries after `after`, at once if it has some now. Returns a function that
   * cancels the call. It is a hint like `EventStore.notify`. Absent for a store that cannot notify: consumers poll.
   */
  readonly notify?: ((bucket: number, after: FeedPosition, changed: () => void) => () => void) | undefined;
}
