import type { Head } from './event-store';
import type { StreamName } from './stream-name';

/** The state of a stream at a head, encoded by a `StateCodec`. */
export interface Snapshot<Chunks = Iterable<string>> {
  /** The format of the chunks, as the codec names it. */
  readonly format: string;
  readonly head: Head;
  readonly chunks: Chunks;
}

/** A snapshot as it is loaded: each chunk is read when it is iterated over. */
export type StoredSnapshot = Snapshot<AsyncIterable<string>>;

/** The snapshot that a stream begins with once its first events are archived. */
export interface Base<Chunks = Iterable<string>> extends Snapshot<Chunks> {
  /** The seal of the archive that ends at its head. */
  readonly archive: string;
}

export type StoredBase = Base<AsyncIterable<string>>;

/**
 * Port: keeps the newest snapshot of each stream, so that a load need not replay the whole history.
 *
 * A snapshot is a cache: it is used only if the event store has its head. So a store may lose snapshots, and return old
 * ones. A base snapshot is no cache, but all that is left of the events that were archived: a store must not lose it.
 * All methods reject with `StoreUnavailable`.
 */
export interface SnapshotStore {
  /**
   * The newest snapshot; `undefined` if there is none. Iterating over its chunks throws {@link BrokenSnapshot} at the
   * end, or earlier, if they are not exactly the chunks that were saved for this stream with this format and head.
   */
  load(stream: StreamName): Promise<StoredSnapshot | undefined>;

  /**
   * The base snapshot, as {@link load} does; `undefined` if no event of the stream was archived. Absent for a store that
   * archives nothing.
   */
  readonly loadBase?: ((stream: StreamName) => Promise<StoredBase | undefined>) | undefined;

  /**
   * Replaces the newest snapshot at once when all chunks are written. Takes each chunk when the one before it is
   * written. False, without effect, if another snapshot of the stream is being saved, or if the stream does not have
   * this head any more.
   */
  save(stream: StreamName, snapshot: Snapshot): Promise<boolean>;
}

/** A stored snapshot cannot be used. Unless it is a base, the history has everything that it had. */
export class BrokenSnapshot extends Error {
  override readonly name = 'BrokenSnapshot';
}
