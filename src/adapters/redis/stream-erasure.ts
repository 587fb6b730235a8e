import { type StreamName, withoutStream } from '../../event-sourcing';
import type { RedisConnection } from './connection';
import { waitFault, writing } from './faults';
import { ERASE_FROM_FEED } from './feed-scripts';
import { RedisLeases } from './leases';
import { LAST_ID } from './stream-scripts';
import { addressOf, checkpointKeys, feedKeys, keysOf } from './stream-key';

/** Number of entries of a feed that one script looks at. Redis serves no other client meanwhile. */
const FEED_ENTRIES = 1000;

/**
 * KEYS: all keys of the stream, and the feed of its bucket. ARGV: '1' if replicas must confirm. WAIT counts the replicas
 * that have the last write of this connection, so the script writes even if the
 * stream is already deleted: an erasure is repeated when too few replicas have
 * confirmed it. Returns the number of events, and the last id of the feed: later entries are of another history.
 */
const ERASE = `${LAST_ID}
local events = redis.call('XLEN', KEYS[1])
local last = lastId(table.remove(KEYS))
redis.call('UNLINK', unpack(KEYS))
if ARGV[1] == '1' then
  redis.call('SET', KEYS[1], '')
  redis.call('UNLINK', KEYS[1])
end
return {events, last}
`;

/** KEYS: the heads of projections. ARGV: the stream as their fields have it. */
const ERASE_HEADS = `
for _, heads in ipairs(KEYS) do redis.call('HDEL', heads, ARGV[1]) end
return 0
`;

/** Deletes streams, and what the feed and the projections have of them. */
export class StreamErasure {
  constructor(
    private readonly connection: RedisConnection,
    private readonly options: { readonly keyPrefix: string; readonly waitReplicas: number },
  ) {}

  /** Resolves with the number of events that the stream had. Rejects as the port does. */
  async erase(stream: StreamName): Promise<number> {
    const { keyPrefix, waitReplicas } = this.options;
    const { bucket, name } = addressOf(stream);
    const [feed, erased] = feedKeys(keyPrefix, bucket);
    const keys = [...keysOf(keyPrefix, stream), feed];
    const [events, last] = (await this.#write(ERASE, keys, [waitReplicas > 0 ? 1 : 0])) as [number, string];
    const end = last.slice(last.indexOf('-') + 1);
    for (let from = 1; from > 0;) {
      const args = [name, from, end, FEED_ENTRIES];
      from = (await this.#write(ERASE_FROM_FEED, [feed, erased], args)) as number;
    }
    await this.#eraseHeads(bucket, stream);
    await this.#eraseStops(stream);
    return events;
  }

  /** Removes a stream that was erased from all checkpoints. They accept no head of it after that. */
  async #eraseHeads(bucket: number, stream: StreamName): Promise<void> {
    const { keyPrefix } = this.options;
    const [buckets] = checkpointKeys(keyPrefix, bucket, '');
    const projections = (await this.#write("return redis.call('HKEYS', KEYS[1])", [buckets], [])) as string[];
    if (projections.length === 0) return;
    const heads = projections.map((projection) => checkpointKeys(keyPrefix, bucket, projection)[1]);
    await this.#write(ERASE_HEADS, heads, [encodeURIComponent(stream)]);
  }

  /** Removes the name of a stream from what projections report of it; they then try again, and find it erased. */
  async #eraseStops(stream: StreamName): Promise<void> {
    const leases = new RedisLeases(this.connection, this.options);
    for (const projection of await leases.projections())
      for (let saved = false; !saved;) {
        const { text } = await leases.load(projection);
        const without = text && withoutStream(text, stream);
        saved = without === text || (await leases.save(projection, text, without));
      }
  }

  /** Executes a script that writes, and waits for replicas. */
  async #write(
    script: string,
    keys: readonly string[],
    args: readonly (string | number)[],
  ): Promise<unknown> {
    const { waitReplicas } = this.options;
    const [reply, replicaCount] = await writing(() => {
      const { client, waitMs } = this.connection;
      return Promise.all([
        client.eval(script, keys.length, ...keys, ...args),
        // Sent in the same turn, on the same connection. A rejection is treated as a reply.
        waitReplicas > 0 ? client.wait(waitReplicas, waitMs).catch((error: unknown) => error) : 0,
      ]);
    });
    if (typeof replicaCount !== 'number' || replicaCount < waitReplicas)
      throw waitFault(waitReplicas, replicaCount);
    return reply;
  }
}
