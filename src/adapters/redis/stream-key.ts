import { type StreamName, parseStreamName } from '../../event-sourcing';

/**
 * The key of a stream, for example `plant-store:{alice}:events`. The name is
 * percent-encoded: the key is readable, and unique. The braces (which are encoded
 * within the name) make the name the hash tag of the key on a Redis Cluster.
 */
export function streamKey(prefix: string, stream: StreamName): string {
  return keyOf(prefix, stream, 'events');
}

/** The keys that a read and an append use: that of the events, and that of the base. */
export function eventKeys(prefix: string, stream: StreamName): readonly [events: string, base: string] {
  const own = `${prefix}:{${encodeURIComponent(stream)}}`;
  return [`${own}:events`, `${own}:base`];
}

/** A snapshot, and the one that is being saved in its place. */
export interface SnapshotKeys {
  readonly current: string;
  readonly draft: string;
}

/** The keys of a stream's newest snapshot, or of its base. */
export function snapshotKeys(
  prefix: string,
  stream: StreamName,
  kind: 'snapshot' | 'base' = 'snapshot',
): SnapshotKeys {
  return { current: keyOf(prefix, stream, kind), draft: keyOf(prefix, stream, `${kind}:draft`) };
}

/** All keys of a stream; that of its events is the first. */
export function keysOf(prefix: string, stream: StreamName): readonly string[] {
  const [snapshot, base] = [snapshotKeys(prefix, stream), snapshotKeys(prefix, stream, 'base')];
  return [streamKey(prefix, stream), snapshot.current, snapshot.draft, base.current, base.draft];
}

function keyOf(prefix: string, stream: StreamName, kind: string): string {
  return `${prefix}:{${encodeURIComponent(stream)}}:${kind}`;
}

/**
 * The stream of `key`: the inverse of {@link streamKey}. `'foreign'` if the key is
 * not one of this service. `'other'` if it is the key of a snapshot, or belongs to
 * another service whose longer prefix (`plant-store:eu`) begins with this one. For
 * the key of a base, the stream as `baseOf`.
 */
export function streamOfKey(
  prefix: string,
  key: string,
): StreamName | 'foreign' | 'other' | { readonly baseOf: StreamName } {
  const parts = /^([\w.:-]+):\{([^{}]*)\}:(events|(?:snapshot|base)(?::draft)?)$/.exec(key);
  if (parts === null) return 'foreign';
  const [keyPrefix, encoded, kind] = parts.slice(1) as [string, string, string];
  const stream = decoded(encoded);
  // Only the canonical encoding is accepted: `%41` is not another spelling of `A`.
  if (stream === undefined || keyOf(keyPrefix, stream, kind) !== key) return 'foreign';
  if (keyPrefix === prefix && kind === 'base') return { baseOf: stream };
  if (keyPrefix === prefix) return kind === 'events' ? stream : 'other';
  return keyPrefix.startsWith(`${prefix}:`) ? 'other' : 'foreign';
}

function decoded(encoded: string): StreamName | undefined {
  try {
    return parseStreamName(decodeURIComponent(encoded));
  } catch {
    return undefined;
  }
}
