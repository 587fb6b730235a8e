import type { StreamName } from './stream-name';

/** A stream that was written to. */
export interface CataloguedStream {
  readonly stream: StreamName;
  /** The last version ever assigned, 1 or more. A history that ends earlier has lost its last events. */
  readonly version: number;
}

/** An object among the streams that is not a stream: another program wrote it, or it is a base whose stream is missing. */
export interface ForeignObject {
  /** Describes the object: its name in the store, and what is wrong with it. */
  readonly foreign: string;
}

/**
 * Port: lists and erases streams. It is separate from the {@link EventStore},
 * because operators need it and requests do not.
 *
 * Rejects with `StoreUnavailable`; `erase` also with `OutcomeUnknown`.
 */
export interface StreamCatalogue {
  /**
   * Every stream that exists during the whole iteration, each once, unordered. Streams that are created or erased
   * meanwhile may be missing.
   */
  streams(): AsyncIterable<CataloguedStream | ForeignObject>;

  /** The stream; `undefined` if nothing of it is stored. */
  find(stream: StreamName): Promise<CataloguedStream | undefined>;

  /**
   * Deletes the stream with its name, versions and snapshots, and its entries in the feed. Resolves with the number of its events. Reads and appends at a
   * head of that history then result in `reset`; an append at the beginning starts a new stream.
   */
  erase(stream: StreamName): Promise<number>;
}
