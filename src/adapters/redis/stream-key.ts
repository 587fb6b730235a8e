import { type StreamName, parseStreamName } from '../../event-sourcing';

/**
 * The key of a stream, for example `plant-store:{alice}:events`. The name is
 * percent-encoded: the key is readable, and unique. The braces (which are encoded
 * within the name) make the name the hash tag of the key on a Redis Cluster.
 */
export function streamKey(prefix: string, stream: StreamName): string {
  return `${prefix}:{${encodeURIComponent(stream)}}:events`;
}

/**
 * The stream of `key`: the inverse of {@link streamKey}. `'foreign'` if the key is
 * not one of a stream, `'elsewhere'` if it belongs to another service whose longer
 * prefix (`plant-store:eu`) begins with this one.
 */
export function streamOfKey(prefix: string, key: string): StreamName | 'foreign' | 'elsewhere' {
  const [, keyPrefix, encoded] = /^([\w.:-]+):\{([^{}]*)\}:events$/.exec(key) ?? [];
  if (keyPrefix === undefined || encoded === undefined) return 'foreign';
  const stream = decoded(encoded);
  // Only the canonical encoding is accepted: `%41` is not another spelling of `A`.
  if (stream === undefined || streamKey(keyPrefix, stream) !== key) return 'foreign';
  if (keyPrefix === prefix) return stream;
  return keyPrefix.startsWith(`${prefix}:`) ? 'elsewhere' : 'foreign';
}

function decoded(encoded: string): StreamName | undefined {
  try {
    return parseStreamName(decodeURIComponent(encoded));
  } catch {
    return undefined;
  }
}
