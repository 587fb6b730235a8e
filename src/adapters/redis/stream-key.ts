import { type StreamName, parseStreamName } from '../../event-sourcing';

/**
 * The key of a stream, for example `plant-store:{alice}:events`. The name is
 * percent-encoded: the key is readable, and unique. The braces (which are encoded
 * within the name) make the name the hash tag of the key on a Redis Cluster.
 */
export function streamKey(prefix: string, stream: StreamName): string {
  return keyOf(prefix, stream, 'events');
}

/** The keys beside that of a stream: its newest snapshot, and the one that is being saved. */
export function snapshotKeys(prefix: string, stream: StreamName): { snapshot: string; draft: string } {
  return { snapshot: keyOf(prefix, stream, 'snapshot'), draft: keyOf(prefix, stream, 'snapshot:draft') };
}

function keyOf(prefix: string, stream: StreamName, kind: string): string {
  return `${prefix}:{${encodeURIComponent(stream)}}:${kind}`;
}

/**
 * The stream of `key`: the inverse of {@link streamKey}. `'foreign'` if the key is
 * not one of this service. `'other'` if it is the key of a snapshot, or belongs to
 * another service whose longer prefix (`plant-store:eu`) begins with this one.
 */
export function streamOfKey(prefix: string, key: string): StreamName | 'foreign' | 'other' {
  const [, keyPrefix, encoded, kind] =
    /^([\w.:-]+):\{([^{}]*)\}:(events|snapshot|snapshot:draft)$/.exec(key) ?? [];
  if (keyPrefix === undefined || encoded === undefined || kind === undefined) return 'foreign';
  const stream = decoded(encoded);
  // Only the canonical encoding is accepted: `%41` is not another spelling of `A`.
  if (stream === undefined || keyOf(keyPrefix, stream, kind) !== key) return 'foreign';
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
