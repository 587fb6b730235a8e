/**
 * Port: what a projection has processed, as texts by key. The consumer stores them with its own data. There is one key for
 * each bucket, such as `39`, and one for each stream, such as `39/plants%2Falice`. All are ASCII, and opaque.
 */
export interface Checkpoint {
  /** The stored values of `keys`, in their order. */
  load(keys: readonly string[]): Promise<readonly (string | undefined)[]> | readonly (string | undefined)[];

  /** All stored keys that begin with `prefix`. */
  keys(prefix: string): AsyncIterable<string> | Iterable<string>;
}

/** What a consumer stores when it has processed a batch, in the transaction of its own data. */
export interface CheckpointWrite {
  /** The key of the bucket. */
  readonly key: string;
  /**
   * The value that `key` must have before; `undefined`: none. Otherwise another instance has moved the checkpoint: write
   * nothing, and throw {@link CheckpointConflict}. The value has a number that each write increments, so a write that was
   * delayed is refused.
   */
  readonly expected: string | undefined;
  /** The new values, that of `key` among them. */
  readonly values: ReadonlyMap<string, string>;
}

/** Another instance has moved the checkpoint: nothing was written. */
export class CheckpointConflict extends Error {
  override readonly name = 'CheckpointConflict';

  constructor() {
    super('another instance has moved the checkpoint');
  }
}

/** Port: stores checkpoints for consumers that have no transaction of their own. */
export interface CheckpointStore extends Checkpoint {
  /** Writes all values at once. Rejects with {@link CheckpointConflict}. */
  save(write: CheckpointWrite): Promise<void>;
}
