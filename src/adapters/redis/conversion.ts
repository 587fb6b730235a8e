import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { Cluster, type Redis } from 'ioredis';
import { StoreUnavailable, partsOf, streamOf } from '../../event-sourcing';
import type { RedisClient } from './client';
import { FIRST_CONTACT_MS, RedisConnection, type RedisConnectionOptions } from './connection';
import { appendFault, waitFault } from './faults';
import { executeScript, script } from './script';
import {
  type IdentityFields,
  convertingFields,
  identityFields,
  identityKey,
  parseIdentity,
} from './store-identity';
import { BUCKETS, KEY_KINDS, feedKeys, keysOf, ownerOfKey } from './stream-key';

export interface ConversionOptions extends Omit<RedisConnectionOptions, 'report'> {
  readonly keyPrefix: string;
  /** The category of the streams: the layout before buckets has one stream for each user, without a category. */
  readonly category: string;
  /** Converts back to the layout before buckets. */
  readonly undo: boolean;
  /** The only id that the store may have. */
  readonly storeId: string | undefined;
  /** Called with the number of streams so far. */
  readonly onProgress: (streams: number) => Promise<void>;
}

interface Conversion {
  /** Of the store; `undefined` if there is nothing to convert. */
  readonly id: string | undefined;
  readonly streams: number;
  /** Keys of streams that are stored in both layouts, or have no place in the layout before buckets. */
  readonly refused: readonly string[];
}

const SCAN_COUNT = 1000;

/**
 * Replaces the fields of the store's id. KEYS: the id. ARGV: the fields. Returns whether it did: with fields of a store
 * that is converted, only if it is converting.
 */
const IDENTIFY = script(`
local entry = redis.call('XRANGE', KEYS[1], '1-0', '1-0')[1]
if ARGV[1] ~= 'converting' and not (entry and entry[2][1] == 'converting') then return 0 end
redis.call('UNLINK', KEYS[1])
redis.call('XADD', KEYS[1], '1-0', unpack(ARGV))
return 1
`);

/**
 * Renames the keys of one stream. KEYS: the id of the store, its keys, their new names. Returns `moved`, or `nothing` if
 * it has none; `both` without effect if a new name exists, too; `not converting` without effect if instances may use the
 * store.
 */
const MOVE = script(`
local entry = redis.call('XRANGE', KEYS[1], '1-0', '1-0')[1]
if not (entry and entry[2][1] == 'converting') then return 'not converting' end
local count = (#KEYS - 1) / 2
local function exists(index) return redis.call('EXISTS', KEYS[1 + index]) == 1 end
for i = 1, count do
  if exists(i) and exists(count + i) then return 'both' end
end
local result = 'nothing'
for i = 1, count do
  if exists(i) then
    redis.call('RENAME', KEYS[1 + i], KEYS[1 + count + i])
    result = 'moved'
  end
end
return result
`);

/** The keys of one stream, and their new names. */
interface Renaming {
  readonly from: readonly string[];
  readonly to: readonly string[];
}

/**
 * Renames the keys of a store to the layout of this version, or back.
 *
 * First the id of the store gets fields that the instances of no version accept, running ones included, since each of
 * their calls checks the id. Each renaming script checks it, too. So nothing is written meanwhile, and the conversion
 * can be repeated wherever it ended. It ends when a search finds no more keys of the other layout. It deletes the feeds.
 *
 * Rejects with {@link StoreUnavailable}, or with `OutcomeUnknown`: then it is to be repeated.
 */
export async function convertStore(options: ConversionOptions): Promise<Conversion> {
  const connection = new RedisConnection({ ...options, report: () => {} });
  try {
    // The timer also keeps the process alive.
    await Promise.race([connection.examined, delay(Math.max(FIRST_CONTACT_MS, options.timeoutMs))]);
    return await new StoreConversion(connection.client, connection.waitMs, options).run();
  } catch (error) {
    throw appendFault(error);
  } finally {
    connection.close();
  }
}

class StoreConversion {
  readonly #identityKey: string;
  readonly #refused = new Set<string>();
  #streams = 0;

  constructor(
    private readonly client: RedisClient,
    private readonly waitMs: number,
    private readonly options: ConversionOptions,
  ) {
    this.#identityKey = identityKey(options.keyPrefix);
  }

  async run(): Promise<Conversion> {
    const { undo, storeId } = this.options;
    if (this.client instanceof Cluster)
      throw new StoreUnavailable('the keys of a Cluster cannot be renamed: see docs/runbooks/upgrade.md');
    const identity = await this.#identity();
    if (storeId !== undefined && identity?.id !== storeId)
      throw new StoreUnavailable(
        `this store has ${identity ? `the id ${identity.id}` : 'no id'}, but REDIS_STORE_ID is ${storeId}`,
      );
    const isConverted = identity && !identity.converting && (identity.buckets === undefined) === undo;
    // A command at a wrong address must not write there.
    if ((identity === undefined || isConverted) && (await this.#found().next()).done)
      return this.#conversion(identity?.id);
    const id = identity?.id ?? randomUUID();
    await this.#identify(convertingFields(id));
    while (await this.#renameFound()) continue;
    // They do not have the commits of all streams that the store has now.
    const feeds = Array.from({ length: BUCKETS }, (_, bucket) => feedKeys(this.options.keyPrefix, bucket));
    await this.client.unlink(...feeds.flat());
    if (this.#refused.size === 0) await this.#identify(undo ? ['id', id] : identityFields(id));
    return this.#conversion(id);
  }

  #conversion(id: string | undefined): Conversion {
    return { id, streams: this.#streams, refused: [...this.#refused] };
  }

  async #identity(): Promise<IdentityFields | undefined> {
    const [entry] = await (this.client as Redis).xrange(this.#identityKey, '-', '+', 'COUNT', 1);
    if (entry === undefined) return undefined;
    const identity = parseIdentity(entry[1]);
    if (identity !== undefined) return identity;
    throw new StoreUnavailable(`the key ${this.#identityKey} has an entry that is not the id of a store`);
  }

  async #identify(fields: readonly string[]): Promise<void> {
    const { waitReplicas } = this.options;
    const [identified, replicas] = await Promise.all([
      executeScript(this.client, IDENTIFY, [this.#identityKey], fields),
      // On the same connection: it covers all renamings.
      waitReplicas > 0 ? (this.client as Redis).wait(waitReplicas, this.waitMs) : 0,
    ]);
    if (identified !== 1) throw endedMeanwhile();
    if (replicas < waitReplicas) throw waitFault(waitReplicas, replicas);
  }

  /** Renames what a search finds. Resolves with whether it was anything. */
  async #renameFound(): Promise<boolean> {
    const before = this.#streams;
    for await (const renamings of this.#found()) {
      await Promise.all(renamings.map((renaming) => this.#rename(renaming)));
      await this.options.onProgress(this.#streams);
    }
    return this.#streams > before;
  }

  async #rename({ from, to }: Renaming): Promise<void> {
    const reply = await executeScript(this.client, MOVE, [this.#identityKey, ...from, ...to], []);
    const result = String(reply);
    if (result === 'not converting') throw endedMeanwhile();
    if (result === 'both') this.#refused.add(from[0]!);
    else if (result === 'moved') this.#streams++;
  }

  /** What is to be renamed, page by page. The same stream may be found several times. */
  async *#found(): AsyncGenerator<readonly Renaming[]> {
    for (let cursor = '0', first = true; first || cursor !== '0'; first = false) {
      const pattern = `${this.options.keyPrefix}:{*`;
      const [next, keys] = await (this.client as Redis).scan(cursor, 'MATCH', pattern, 'COUNT', SCAN_COUNT);
      cursor = next;
      const renamings = keys.map((key) => this.#renamingOf(key)).filter((one) => one !== undefined);
      if (renamings.length > 0) yield renamings;
    }
  }

  #renamingOf(key: string): Renaming | undefined {
    const { keyPrefix, category, undo } = this.options;
    const renaming = (id: string): Renaming => {
      const [before, after] = [keysBeforeBuckets(keyPrefix, id), keysOf(keyPrefix, streamOf(category, id))];
      return undo ? { from: after, to: before } : { from: before, to: after };
    };
    if (!undo) {
      const id = idBeforeBuckets(keyPrefix, key);
      return id === undefined ? undefined : renaming(id);
    }
    const owner = ownerOfKey(keyPrefix, key);
    if (owner === 'foreign' || owner === 'other') return undefined;
    const { category: ownCategory, id } = partsOf('stream' in owner ? owner.stream : owner.baseOf);
    if (ownCategory === category) return renaming(id);
    this.#refused.add(key);
    return undefined;
  }
}

function endedMeanwhile(): StoreUnavailable {
  return new StoreUnavailable(
    'the conversion was ended by another command, or lost in a failover; repeat it',
  );
}

/** The keys of a stream before buckets: its name, which was that of a user, was the hash tag. */
function keysBeforeBuckets(prefix: string, name: string): readonly string[] {
  return KEY_KINDS.map((kind) => `${prefix}:{${encodeURIComponent(name)}}:${kind}`);
}

/** The name of the stream of such a key. */
function idBeforeBuckets(prefix: string, key: string): string | undefined {
  const encoded = key.slice(`${prefix}:{`.length, key.lastIndexOf('}'));
  try {
    const name = decodeURIComponent(encoded);
    return keysBeforeBuckets(prefix, name).includes(key) ? name : undefined;
  } catch {
    return undefined;
  }
}
