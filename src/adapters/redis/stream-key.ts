import { type StreamName, parseStreamName, partsOf } from '../../event-sourcing';

/**
 * Number of buckets that the streams of a store are divided into, for ever: the store records it beside its id. The
 * streams of one bucket are in one hash slot of a Redis Cluster.
 */
export const BUCKETS = 64;

/**
 * The key of a stream, for example `plant-store:{39}:plants/alice:events`. The name is
 * percent-encoded, except for the slash after a category: the key is readable, and unique. The braces
 * make the bucket the hash tag of the key on a Redis Cluster.
 */
export function streamKey(prefix: string, stream: StreamName): string {
  return keyOf(prefix, stream, 'events');
}

/** The keys that a read and an append use: that of the events, and that of the base. */
export function eventKeys(prefix: string, address: StreamAddress): readonly [events: string, base: string] {
  const own = ownKey(prefix, address);
  return [`${own}:events`, `${own}:base`];
}

/** The keys of the feed of a bucket: that of its entries, and that of the positions of erased ones. */
export function feedKeys(prefix: string, bucket: number): readonly [entries: string, erased: string] {
  return [`${prefix}:{${bucket}}:feed`, `${prefix}:{${bucket}}:feed:erased`];
}

/** The keys of a projection in a bucket: that of the values of all projections, and that of its heads by stream. */
export function checkpointKeys(
  prefix: string,
  bucket: number,
  projection: string,
): readonly [buckets: string, heads: string] {
  return [`${prefix}:{${bucket}}:feed:checkpoints`, `${prefix}:{${bucket}}:feed:checkpoint:${projection}`];
}

/** The key of the leases of all projections. They have no stream, so it is in one bucket. */
export function projectionsKey(prefix: string): string {
  return `${prefix}:{0}:feed:projections`;
}

/** Of the name of a projection, which is a part of keys: lower-case letters, digits and `-`. */
const PROJECTION = /^[a-z0-9-]{1,64}$/;

export function isProjectionName(name: string): boolean {
  return PROJECTION.test(name);
}

const FEED_KEY = /^[\w.:-]+:\{\d+\}:feed(?::erased|:projections|:checkpoints|:checkpoint:[a-z0-9-]+)?$/;

export function isFeedKey(key: string): boolean {
  return FEED_KEY.test(key);
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
  const own = ownKey(prefix, addressOf(stream));
  return { current: `${own}:${kind}`, draft: `${own}:${kind}:draft` };
}

/** What a stream has a key for; that of its events is the first. */
export const KEY_KINDS = ['events', 'snapshot', 'snapshot:draft', 'base', 'base:draft'] as const;

/** All keys of a stream. */
export function keysOf(prefix: string, stream: StreamName): readonly string[] {
  return KEY_KINDS.map((kind) => keyOf(prefix, stream, kind));
}

function keyOf(prefix: string, stream: StreamName, kind: string): string {
  return `${ownKey(prefix, addressOf(stream))}:${kind}`;
}

/** The part that all keys of a stream begin with. */
function ownKey(prefix: string, { bucket, name }: StreamAddress): string {
  return `${prefix}:{${bucket}}:${name}`;
}

/** The bucket of a stream, and its name as its keys and the feed have it. */
interface StreamAddress {
  readonly bucket: number;
  readonly name: string;
}

export function addressOf(stream: StreamName): StreamAddress {
  const { id } = partsOf(stream);
  const encoded = encodeURIComponent(id);
  return { bucket: bucketOf(encoded), name: `${stream.slice(0, -id.length)}${encoded}` };
}

/**
 * The bucket of a stream: the FNV-1a hash (32 bits) of its percent-encoded id, modulo {@link BUCKETS}. It does not depend
 * on the category, so that all streams with one id share a bucket.
 */
export function bucketOf(encodedId: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < encodedId.length; index++)
    hash = Math.imul(hash ^ encodedId.charCodeAt(index), 0x01000193);
  return (hash >>> 0) % BUCKETS;
}

/** A key of this service, or of another one. Without a name after the bucket it is of the layout before buckets. */
const KEY = /^([\w.:-]+):\{[^{}]*\}(?::([^:{}]+))?:(events|(?:snapshot|base)(?::draft)?)$/;

/**
 * What a key is of. `'foreign'` if it is not one of this service. `'other'` if it is the key of a snapshot, or belongs to
 * another service whose longer prefix (`plant-store:eu`) begins with this one.
 */
export type KeyOwner =
  { readonly stream: StreamName } | { readonly baseOf: StreamName } | 'foreign' | 'other';

/** The stream of a key of events or of a base: the inverse of {@link streamKey}. */
export function ownerOfKey(prefix: string, key: string): KeyOwner {
  if (isFeedKey(key)) return 'other';
  const parts = KEY.exec(key);
  if (parts === null) return 'foreign';
  const [keyPrefix, encoded, kind] = parts.slice(1) as [string, string | undefined, string];
  if (keyPrefix.startsWith(`${prefix}:`)) return 'other';
  const stream = decoded(encoded ?? '');
  // Only the canonical encoding is accepted: `%41` is not another spelling of `A`.
  if (stream === undefined || keyOf(prefix, stream, kind) !== key) return 'foreign';
  if (kind === 'base') return { baseOf: stream };
  return kind === 'events' ? { stream } : 'other';
}

/** The stream whose name is encoded as in a key; `undefined` if there is none. */
export function decoded(encoded: string): StreamName | undefined {
  try {
    return parseStreamName(decodeURIComponent(encoded));
  } catch {
    return undefined;
  }
}
