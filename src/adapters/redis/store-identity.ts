import { randomUUID } from 'node:crypto';
import { type Redis, ReplyError } from 'ioredis';
import type { RedisClient } from './client';
import { ifForbidden } from './examination';
import type { ReportFinding } from './finding-log';
import type { Finding } from './server-checks';
import { BUCKETS } from './stream-key';

/** The only entry of the stream that keeps the id. Its id makes the creation idempotent. */
const ENTRY = '1-0';

/** What an examination knows of a store besides its id. */
interface Surroundings {
  /** Whether an id may be written. */
  readonly creates: boolean;
  /** Number of keys of the database, or of all primaries of a Cluster. */
  readonly keys: number;
  readonly waitReplicas: number;
  /** Timeout of WAIT, in ms. */
  readonly waitMs: number;
}

/** The key of the id of a store. The catalogue takes it for one of a service with a longer prefix, and ignores it. */
export function identityKey(keyPrefix: string): string {
  return `${keyPrefix}:store:{identity}:events`;
}

/**
 * The fields of the entry, in their order. Versions before buckets accept only `id <uuid>`, so they refuse the store. The
 * scripts of their running instances take the first value for the id, so they refuse it, too.
 */
export const identityFields = (id: string) => ['buckets', String(BUCKETS), 'id', id] as const;

/** The same while `plant-store events convert` runs: no instance of any version uses the store. */
export const convertingFields = (id: string) => ['converting', 'yes', ...identityFields(id)] as const;

const IDENTITY = /^(converting yes )?(?:buckets (\d+) )?id (\S+)$/;

export interface IdentityFields {
  readonly id: string;
  /** `undefined` in the layout before buckets. */
  readonly buckets: number | undefined;
  readonly converting: boolean;
}

/** What the fields of the entry say; `undefined` if they are of another program. */
export function parseIdentity(fields: readonly string[]): IdentityFields | undefined {
  const [, converting, buckets, id] = IDENTITY.exec(fields.join(' ')) ?? [];
  return id === undefined
    ? undefined
    : {
        id,
        buckets: buckets === undefined ? undefined : Number(buckets),
        converting: converting !== undefined,
      };
}

/**
 * The id of a store, by which another store at the same address is noticed, or an emptied one, and the number of its
 * buckets. Shared by the connections of an open store.
 *
 * It is a stream with one entry, so that a Redis user needs no rights but those of events.
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
    private readonly report: ReportFinding,
  ) {
    this.key = identityKey(keyPrefix);
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
   * The id of the store, or why this version cannot use the store; `undefined` if it has no id, or if the Redis user may
   * not read it. Rejects with an ioredis error.
   */
  async read(client: RedisClient): Promise<string | Finding | undefined> {
    const [entry] = await client.xrange(this.key, ENTRY, ENTRY).catch(ifForbidden([]));
    if (entry === undefined) return undefined;
    const identity = parseIdentity(entry[1]);
    const refused = (text: string): Finding => ({ name: 'another_layout', text });
    if (identity === undefined)
      return refused(`the key ${this.key} has an entry that is not the id of a store`);
    const { id, buckets, converting } = identity;
    if (converting) return refused('its conversion was not completed: repeat `plant-store events convert`');
    if (buckets === undefined)
      return refused(
        'this store was written by a version without buckets: stop all instances, and run `plant-store events convert`, see docs/runbooks/upgrade.md',
      );
    if (buckets === BUCKETS) return id;
    return refused(`this store has ${buckets} buckets, and this version uses stores with ${BUCKETS} only`);
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
   * Adopts the id of a store, or creates one. With `waitReplicas`, a created id is adopted once so many replicas have
   * confirmed it: after a failover that lost it, this instance would refuse the store. If the creation fails, or too few
   * replicas confirm it, a later call adopts the id.
   */
  async adopt(client: RedisClient, found: string | undefined, surroundings: Surroundings): Promise<void> {
    if (found !== undefined && found !== this.#unconfirmed) this.#see(found);
    else await this.#create(client, found, surroundings);
  }

  /** @param created the id that this instance has created, and too few replicas had. */
  async #create(client: RedisClient, created: string | undefined, surroundings: Surroundings): Promise<void> {
    const { creates, keys, waitReplicas, waitMs } = surroundings;
    if (!creates) return;
    const id = created ?? randomUUID();
    const [written, replicaCount] = await Promise.all([
      // WAIT is about the writes of its own connection.
      (created === undefined
        ? client.xadd(this.key, ENTRY, ...identityFields(id))
        : client.call('XSETID', this.key, ENTRY)
      ).then(() => true, ifRefused),
      // Sent in the same turn, on the same connection.
      waitReplicas > 0 ? (client as Redis).wait(waitReplicas, waitMs).catch(ifRefused) : 0,
    ]);
    if (!written) {
      // Another instance may have been faster.
      const other = await this.read(client);
      if (typeof other === 'string' && other !== created) this.#see(other);
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
  return `this store had no id, and gets the id ${id}: if no earlier version has used it, it is new, although its database has ${keys} keys; otherwise stop all instances, and run \`plant-store events convert\``;
}

/** Maps an error reply to false: the examination reports why Redis refuses writes. */
function ifRefused(error: unknown): false {
  if (error instanceof ReplyError) return false;
  throw error;
}
