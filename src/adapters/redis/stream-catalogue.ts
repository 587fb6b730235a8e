import { Cluster, type Redis } from 'ioredis';
import {
  type CataloguedStream,
  type ForeignObject,
  type StreamCatalogue,
  type StreamName,
  StoreUnavailable,
} from '../../event-sourcing';
import type { RedisConnection } from './connection';
import { primariesOf } from './examination';
import { readFault, reading } from './faults';
import { executeScript, script } from './script';
import { LAST_ID } from './stream-scripts';
import { StreamErasure } from './stream-erasure';
import { type KeyOwner, ownerOfKey, streamKey } from './stream-key';

/** Of a Cluster. */
const SLOTS = 16384;

/** Approximate number of keys per SCAN. */
const SCAN_COUNT = 1000;

/** Number of streams whose versions one script looks up. Redis serves no other client meanwhile. */
const VERSIONS_AT_A_TIME = 200;

/** KEYS: streams. Returns the last id of each; 0-0 for what is not a stream. */
const LAST_IDS = script(`${LAST_ID}
local ids = {}
for i, key in ipairs(KEYS) do ids[i] = lastId(key) end
return ids
`);

/** Finds the streams by SCAN over all keys of every primary. Keys with other prefixes are ignored. */
export class RedisStreamCatalogue implements StreamCatalogue {
  readonly #erasure: StreamErasure;

  constructor(
    private readonly connection: RedisConnection,
    private readonly options: { readonly keyPrefix: string; readonly waitReplicas: number },
  ) {
    this.#erasure = new StreamErasure(connection, options);
  }

  /**
   * Rejects if not all primaries of a Cluster are known. Searches a Cluster until each slot kept its owner during two
   * searches in succession: while a slot migrates, a search can miss a key that moves to a server that it has searched.
   */
  async *streams(): AsyncGenerator<CataloguedStream | ForeignObject> {
    const { client } = this.connection;
    // SCAN may return a key more than once.
    const seen = new Set<string>();
    const needed = client instanceof Cluster ? 2 : 1;
    let owners = await this.#owners();
    for (let passes = 0; passes < needed;) {
      for (const node of primariesOf(client)) yield* this.#search(node, seen);
      const before = owners;
      owners = await this.#owners();
      passes = owners === before ? passes + 1 : 0;
    }
  }

  async *#search(node: Redis, seen: Set<string>): AsyncGenerator<CataloguedStream | ForeignObject> {
    for (let cursor = '0', first = true; first || cursor !== '0'; first = false) {
      const [next, keys] = await this.#scan(node, cursor);
      cursor = next;
      const newKeys = keys.filter((key) => !seen.has(key) && seen.add(key));
      const found = await this.#identifyAll(newKeys);
      for (const one of found) if (one !== undefined) yield one;
    }
  }

  /**
   * The owner of each slot of a Cluster, if all of them are connected, and agree about it. The client forgets a primary whose
   * connection broke until it asks others, and a primary that was frozen believes for a moment that it still is one.
   */
  async #owners(): Promise<string> {
    const { client } = this.connection;
    if (!(client instanceof Cluster)) return '';
    await new Promise<void>((resolve) => client.refreshSlotsCache(() => resolve()));
    const nodes = primariesOf(client);
    const views = await reading(() => Promise.all(nodes.map((node) => node.cluster('SLOTS'))));
    const ranges = views.map((slots) =>
      slots.map(([first, last, owner]) => ({ first, last, owner: `${owner?.[0]}:${owner?.[1]}` })),
    );
    const texts = ranges.map((all) => String(all.map((each) => Object.values(each).join(' ')).sort()));
    const [own = []] = ranges;
    const count = own.reduce((sum, { first, last }) => sum + last - first + 1, 0);
    const owners = new Set(own.map(({ owner }) => owner));
    const areConnected =
      owners.size === nodes.length &&
      nodes.every(({ options: { host, port } }) => owners.has(`${host}:${port}`));
    if (count !== SLOTS || !areConnected || new Set(texts).size > 1)
      throw new StoreUnavailable('not all primaries of the Cluster are known, or they differ about slots');
    return texts[0]!;
  }

  async find(stream: StreamName): Promise<CataloguedStream | undefined> {
    const [version] = await reading(() =>
      Promise.all([
        lastVersion(this.connection.client, streamKey(this.options.keyPrefix, stream)),
        this.connection.mustBePrimary(),
      ]),
    );
    return version === undefined ? undefined : { stream, version };
  }

  erase(stream: StreamName): Promise<number> {
    return this.#erasure.erase(stream);
  }

  async #scan(node: Redis, cursor: string): Promise<[string, string[]]> {
    const [found] = await reading(() =>
      Promise.all([
        node.scan(cursor, 'MATCH', `${this.options.keyPrefix}:*`, 'COUNT', SCAN_COUNT),
        this.connection.mustBePrimary(),
      ]),
    );
    return found;
  }

  async #identifyAll(
    keys: readonly string[],
  ): Promise<readonly (CataloguedStream | ForeignObject | undefined)[]> {
    const owned = keys.map((key) => ({ key, owner: ownerOfKey(this.options.keyPrefix, key) }));
    const isStream = (owner: KeyOwner) => typeof owner === 'object' && 'stream' in owner;
    const versions = await this.#versions(owned.filter(({ owner }) => isStream(owner)).map(({ key }) => key));
    return Promise.all(owned.map(({ key, owner }) => this.#identify(key, owner, versions.get(key))));
  }

  /** The versions of many streams, by key; 0 for other keys. On a Cluster, where they are in several slots, none. */
  async #versions(keys: readonly string[]): Promise<ReadonlyMap<string, number>> {
    const { client } = this.connection;
    const versions = new Map<string, number>();
    if (client instanceof Cluster) return versions;
    const parts: (readonly string[])[] = [];
    for (let first = 0; first < keys.length; first += VERSIONS_AT_A_TIME)
      parts.push(keys.slice(first, first + VERSIONS_AT_A_TIME));
    const replies = await reading(() =>
      Promise.all(parts.map((part) => executeScript(client, LAST_IDS, part, []))),
    );
    const ids = replies.flat() as Buffer[];
    ids.forEach((id, index) => versions.set(keys[index]!, versionOf(String(id))));
    return versions;
  }

  /** @param known the version of the stream, if it is known and not 0. */
  async #identify(
    key: string,
    owner: KeyOwner,
    known: number | undefined,
  ): Promise<CataloguedStream | ForeignObject | undefined> {
    if (owner === 'other') return undefined;
    if (owner === 'foreign') return { foreign: `key ${key} is not a key of this service` };
    try {
      if ('baseOf' in owner) return await this.#lostStream(owner.baseOf, key);
      const version = known || (await lastVersion(this.connection.client, key));
      return version === undefined ? undefined : { stream: owner.stream, version };
    } catch (error) {
      if (error instanceof Error && error.message.startsWith('WRONGTYPE'))
        return { foreign: `key ${key} is not a stream` };
      throw readFault(error);
    }
  }

  /** A base is not a stream; it is reported if its stream is missing. */
  async #lostStream(stream: StreamName, base: string): Promise<ForeignObject | undefined> {
    const { client } = this.connection;
    if ((await lastVersion(client, streamKey(this.options.keyPrefix, stream))) !== undefined)
      return undefined;
    // Both may have been erased meanwhile.
    if ((await client.hmget(base, 'version'))[0] === null) return undefined;
    return { foreign: `key ${base} is the base snapshot of a stream that is missing` };
  }
}

async function lastVersion(client: Redis | Cluster, key: string): Promise<number | undefined> {
  try {
    const facts = (await client.xinfo('STREAM', key)) as unknown[];
    return versionOf(facts[facts.indexOf('last-generated-id') + 1] as string);
  } catch (error) {
    if (error instanceof Error && error.message === 'ERR no such key') return undefined;
    throw error;
  }
}

function versionOf(id: string): number {
  return Number(id.split('-', 1)[0]);
}
