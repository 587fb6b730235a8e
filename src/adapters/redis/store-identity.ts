import { randomUUID } from 'node:crypto';
import { type Redis, ReplyError } from 'ioredis';
import { StoreUnavailable, parseStreamName } from '../../event-sourcing';
import type { Client } from './client';
import { ifForbidden } from './examination';
import type { Report } from './finding-log';
import type { Finding } from './server-checks';
import { streamKey } from './stream-key';

/** The only entry of the stream that keeps the id. Its id makes the creation idempotent. */
const ENTRY = '1-0';
const FIELD = 'id';

/** What an examination knows of a store besides its id. */
export interface Surroundings {
  /** Whether an id may be written. */
  readonly creates: boolean;
  /** Number of keys of the database, or of all primaries of a Cluster. */
  readonly keys: number;
  readonly waitReplicas: number;
  /** Timeout of WAIT, in ms. */
  readonly waitMs: number;
}

/**
 * The id of a store, by which another store at the same address is noticed, or an emptied one. Shared by the
 * connections of an open store.
 *
 * It is a stream with one entry, so that a Redis user needs no rights but those of events. Its key is that of the
 * stream `identity` of a service with the prefix `<prefix>:store`: the catalogue ignores it, also that of versions
 * without ids.
 */
export class StoreIdentity {
  readonly key: string;
  #seen: string | undefined;
  /** The id that this instance has created, while too few replicas have it. */
  #unconfirmed: string | undefined;

  /** @param stated the only id that the store may have; by default, the first id that is seen. */
  constructor(
    keyPrefix: string,
    private readonly stated: string | undefined,
    private readonly report: Report,
  ) {
    this.key = streamKey(`${keyPrefix}:store`, parseStreamName('identity')!);
  }

  /** The id that this instance has seen. */
  get seen(): string | undefined {
    return this.#seen;
  }

  /** The only id that is accepted; `undefined` if none was seen yet. */
  get expected(): string | undefined {
    return this.stated ?? this.#seen;
  }

  /**
   * The id of the store; `undefined` if it has none, or if the Redis user may not read it. Rejects with
   * {@link StoreUnavailable} if something else has its key, or with an ioredis error.
   */
  async read(client: Client): Promise<string | undefined> {
    const [entry] = await client.xrange(this.key, ENTRY, ENTRY).catch(ifForbidden([]));
    if (entry === undefined) return undefined;
    const [field, id] = entry[1];
    if (field !== FIELD || id === undefined)
      throw new StoreUnavailable(`the key ${this.key} has an entry that is not the id of a store`);
    return id;
  }

  /** The problem of a store with this id; `undefined` if it is the expected one. */
  judge(found: string | undefined): Finding | undefined {
    if (found !== undefined && found === this.expected) {
      this.#see(found);
      return undefined;
    }
    const has = found === undefined ? 'has no id, as if it was new or emptied' : `has the id ${found}`;
    const text =
      this.stated === undefined
        ? `this store ${has}, but this instance uses the one with the id ${this.#seen}: correct the address or restore the data, or restart the instance to use this store`
        : `this store ${has}, but REDIS_STORE_ID is ${this.stated}: correct the address or restore the data, or REDIS_STORE_ID`;
    return { name: 'another_store', text };
  }

  /**
   * Adopts the id of a store, and creates it if there is none. With `waitReplicas`, a created id counts once so many
   * replicas have it: after a failover that lost it, this instance would refuse the store. Where that or the creation
   * fails, the id is adopted later.
   */
  async adopt(client: Client, found: string | undefined, surroundings: Surroundings): Promise<void> {
    if (found !== undefined && found !== this.#unconfirmed) this.#see(found);
    else await this.#create(client, found, surroundings);
  }

  /** @param created the id that this instance has created, and too few replicas had. */
  async #create(client: Client, created: string | undefined, surroundings: Surroundings): Promise<void> {
    const { creates, keys, waitReplicas, waitMs } = surroundings;
    if (!creates) return;
    const id = created ?? randomUUID();
    const [written, replicaCount] = await Promise.all([
      // WAIT is about the writes of its own connection.
      (created === undefined
        ? client.xadd(this.key, ENTRY, FIELD, id)
        : client.call('XSETID', this.key, ENTRY)
      ).then(() => true, ifRefused),
      // Sent in the same turn, on the same connection.
      waitReplicas > 0 ? (client as Redis).wait(waitReplicas, waitMs).catch(ifRefused) : 0,
    ]);
    if (!written) {
      // Another instance may have been faster.
      const other = await this.read(client);
      if (other !== undefined && other !== created) this.#see(other);
      return;
    }
    if (created === undefined) this.report('warn', createdText(id, keys));
    if (Number(replicaCount) >= waitReplicas) this.#see(id);
    else this.#unconfirmed = id;
  }

  #see(id: string): void {
    if (this.#seen === undefined) this.report('info', `the store has the id ${id}`);
    this.#seen = id;
  }
}

/** Other programs may have keys in the database, and the service may not search it for its own. */
function createdText(id: string, keys: number): string {
  if (keys === 0)
    return `this is a new, empty store, and gets the id ${id}: if it should have plants, the address or the prefix is wrong, or its data is lost`;
  return `this store had no id, and gets the id ${id}: if no earlier version has used it, it is new, although its database has ${keys} keys`;
}

/** Maps an error reply to false: the examination reports why Redis refuses writes. */
function ifRefused(error: unknown): false {
  if (error instanceof ReplyError) return false;
  throw error;
}
