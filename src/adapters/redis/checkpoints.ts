import {
  CheckpointConflict,
  type CheckpointStore,
  type CheckpointWrite,
  type StreamName,
  headOfText,
  partsOfKey,
} from '../../event-sourcing';
import type { RedisConnection } from './connection';
import { reading, writing } from './faults';
import { type Script, script } from './script';
import { CURRENT, IDENTITY } from './server-doubt';
import { addressOf, checkpointKeys, eventKeys, isProjectionName } from './stream-key';

/**
 * KEYS: the two of `checkpointKeys`, and the id of the store except on a Cluster. ARGV: three for `doubt`, the projection,
 * then streams. Returns the value of the bucket and those of the streams; or a doubt.
 */
const LOAD = script(`${CURRENT}
local why = doubt(ARGV[1], ARGV[2], ARGV[3])
if why then return {why} end
local values = redis.call('HMGET', KEYS[1], ARGV[4])
for i = 5, #ARGV do values[i - 3] = redis.call('HMGET', KEYS[2], ARGV[i])[1] end
return values
`);

/** KEYS and ARGV: the first of LOAD. Returns the streams that have a value, after an empty text; or a doubt. */
const STREAMS = script(`${CURRENT}
local why = doubt(ARGV[1], ARGV[2], ARGV[3])
if why then return {why} end
local streams = redis.call('HKEYS', KEYS[2])
table.insert(streams, 1, '')
return streams
`);

/**
 * KEYS: the first two of LOAD, the events of each stream that has a new head, and the id of the store except on a Cluster.
 * ARGV: the id, the projection, its expected value, the new one (an empty one is none), the number of heads, then for each
 * its stream, version, commit and value, then the streams whose values are removed.
 *
 * A stream without the head was erased or has lost it. All checks come before the first write.
 */
const SAVE = script(`${IDENTITY}
local buckets, heads, projection, count = KEYS[1], KEYS[2], ARGV[2], tonumber(ARGV[5])
if isAnotherStore(ARGV[1]) then return {'identity'} end
if (redis.call('HMGET', buckets, projection)[1] or '') ~= ARGV[3] then return {'conflict'} end
for i = 1, count do
  local id = ARGV[4 * i + 3] .. '-0'
  local entry = redis.call('XRANGE', KEYS[i + 2], id, id)[1]
  if not entry or entry[2][6] ~= ARGV[4 * i + 4] then return {'conflict'} end
end
if ARGV[4] == '' then redis.call('HDEL', buckets, projection) else redis.call('HSET', buckets, projection, ARGV[4]) end
for i = 1, count do redis.call('HSET', heads, ARGV[4 * i + 2], ARGV[4 * i + 5]) end
for i = 4 * count + 6, #ARGV do redis.call('HDEL', heads, ARGV[i]) end
return {'saved'}
`);

/**
 * The checkpoint of a projection, in two hashes of each bucket: one has the value of the bucket for each projection, the
 * other one the heads of the projection by stream. So an erasure finds all of them in the slot of the stream.
 *
 * No write waits for replicas: a failover that loses it also has no event or entry of the feed that is newer.
 */
export class RedisCheckpoints implements CheckpointStore {
  /** Throws RangeError if the name of the projection is none. */
  constructor(
    private readonly connection: RedisConnection,
    private readonly options: { readonly keyPrefix: string },
    private readonly projection: string,
  ) {
    if (!isProjectionName(projection))
      throw new RangeError('the name of a projection has 1 to 64 lower-case letters, digits and "-"');
  }

  async load(keys: readonly string[]): Promise<(string | undefined)[]> {
    const values = new Map<string, string>();
    for (const [bucket, streams] of byBucket(keys)) {
      const [own, ...heads] = await this.#read(LOAD, bucket, streams);
      if (own) values.set(String(bucket), String(own));
      for (const [index, head] of heads.entries())
        if (head) values.set(`${bucket}/${streams[index]!}`, String(head));
    }
    return keys.map((key) => values.get(key));
  }

  async *keys(prefix: string): AsyncGenerator<string> {
    const [, ...streams] = await this.#read(STREAMS, partsOfKey(prefix).bucket, []);
    for (const stream of streams) yield `${prefix}${String(stream)}`;
  }

  async save({ key, expected = '', values }: CheckpointWrite): Promise<void> {
    const { keyPrefix } = this.options;
    const { bucket } = partsOfKey(key);
    const events: string[] = [];
    const heads: (string | number)[] = [];
    const removed: string[] = [];
    for (const [each, value] of values) {
      if (each === key) continue;
      const stream = each.slice(key.length + 1);
      if (value === undefined) removed.push(stream);
      else {
        const { version, commit } = headOfText(value);
        events.push(eventKeys(keyPrefix, addressOf(decodeURIComponent(stream) as StreamName))[0]);
        heads.push(stream, version, commit, value);
      }
    }
    const keys = [...checkpointKeys(keyPrefix, bucket, this.projection), ...events];
    const own = [this.projection, expected, values.get(key) ?? '', events.length];
    const [result] = await writing(() => this.connection.write(SAVE, keys, [...own, ...heads, ...removed]));
    if (String(result) === 'conflict') throw new CheckpointConflict();
  }

  async #read(of: Script, bucket: number, streams: readonly string[]): Promise<readonly (Buffer | null)[]> {
    const keys = checkpointKeys(this.options.keyPrefix, bucket, this.projection);
    const reply = await reading(() => this.connection.execute(of, keys, [this.projection, ...streams]));
    return reply as readonly (Buffer | null)[];
  }
}

/** The streams of `keys`, as they are encoded there, by their bucket. */
function byBucket(keys: readonly string[]): ReadonlyMap<number, readonly string[]> {
  const streams = new Map<number, string[]>();
  for (const key of keys) {
    const { bucket, stream } = partsOfKey(key);
    const own = streams.get(bucket) ?? [];
    streams.set(bucket, own);
    if (stream !== undefined) own.push(encodeURIComponent(stream));
  }
  return streams;
}
