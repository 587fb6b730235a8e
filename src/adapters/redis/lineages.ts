import type { RedisClient } from './client';
import { BUCKETS, type Keys } from './keys';
import type { Finding } from './server-checks';

interface Seen {
  readonly lineage: string;
  /**
   * Whether two examinations have found this lineage. Before that, its loss proves nothing, because
   * a failover may lose a new lineage.
   */
  readonly isSettled: boolean;
}

/**
 * Remembers the lineages of the indexes of a Cluster, which `lua/include/touch.lua` explains. The
 * store id is on only one of the servers, so only the lineages show that another server was
 * emptied.
 */
export class Lineages {
  readonly #seen = new Map<number, Seen>();

  /**
   * Resolves with the buckets that have lost their lineage, and with the number of buckets that
   * still have it. A bucket counts as neither if its server does not answer, or if its lineage was
   * not settled before.
   *
   * @param learns Whether new lineages are remembered.
   */
  async compare(
    client: RedisClient,
    keys: Keys,
    learns: boolean,
  ): Promise<{ readonly lost: readonly number[]; readonly intact: number }> {
    const buckets = Array.from({ length: BUCKETS }, (_, bucket) => bucket);
    const replies = await Promise.allSettled(
      buckets.map((bucket) => client.zrange(keys.index(bucket), '0', '0', 'BYSCORE')),
    );
    const lost: number[] = [];
    let intact = 0;
    for (const [bucket, reply] of replies.entries()) {
      if (reply.status === 'rejected' || !Array.isArray(reply.value)) continue;
      const [lineage] = reply.value;
      const seen = this.#seen.get(bucket);
      const isSame = seen?.lineage === lineage;
      if (seen?.isSettled && isSame) intact++;
      else if (seen?.isSettled) lost.push(bucket);
      else if (learns && lineage !== undefined)
        this.#seen.set(bucket, { lineage, isSettled: isSame });
    }
    return { lost, intact };
  }
}

export function emptiedServer(address: string): Finding {
  return {
    name: 'another_store',
    text:
      `${address} has lost its part of this store, as if it was emptied: ` +
      'restore its data, or restart the instance to go on without it',
  };
}
