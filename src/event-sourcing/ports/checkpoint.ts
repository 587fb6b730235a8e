import { BEGINNING, type Head } from './event-store';
import type { StreamName } from './stream-name';

/**
 * Port: what a projection has processed, as texts by key. The consumer stores them with its own data. There is one key for
 * each bucket, such as `39`, and one for each stream, such as `39/plants%2Falice`. All are ASCII, and opaque.
 */
export interface Checkpoint {
  /** The stored values of `keys`, in their order. */
  load(keys: readonly string[]): Promise<readonly (string | undefined)[]> | readonly (string | undefined)[];

  /** The stored keys of the streams of a bucket. `prefix` is the key of the bucket and a slash. */
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
  /** The new values, that of `key` among them; `undefined` removes a key. Its stream was erased or lost. */
  readonly values: ReadonlyMap<string, string | undefined>;
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
  /**
   * Writes all values at once. Rejects with {@link CheckpointConflict}; also if the store has the streams, too, and one of
   * them was erased or does not have the head in its value, so that no checkpoint keeps the name of an erased stream.
   */
  save(write: CheckpointWrite): Promise<void>;
}

/** The key of a stream; without a stream, what the keys of all streams of the bucket begin with. */
export function headKeyOf(bucket: number, stream: StreamName | ''): string {
  return `${bucket}/${encodeURIComponent(stream)}`;
}

/** The bucket of a key, and its stream unless it is that of the bucket: the inverse of {@link headKeyOf}. */
export function partsOfKey(key: string): {
  readonly bucket: number;
  readonly stream: StreamName | undefined;
} {
  const [bucket, stream] = key.split('/');
  return {
    bucket: Number(bucket),
    stream: stream === undefined ? undefined : (decodeURIComponent(stream) as StreamName),
  };
}

/** The value of the key of a stream; `undefined` at the beginning. */
export function textOfHead({ version, commit }: Head): string | undefined {
  return version === 0 ? undefined : JSON.stringify([version, commit]);
}

/** The head up to which the events of a stream were applied: the inverse of {@link textOfHead}. */
export function headOfText(text: string | undefined): Head {
  if (text === undefined) return BEGINNING;
  const [version, commit] = JSON.parse(text) as [number, string];
  return { version, commit };
}
