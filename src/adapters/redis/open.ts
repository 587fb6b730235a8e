import { setTimeout as delay } from 'node:timers/promises';
import { type EventStore, StoreUnavailable, type StreamCatalogue } from '../../application';
import { type Address, RedisConnection } from './connection';
import { RedisEventStore } from './event-store';
import { RedisStreamCatalogue } from './stream-catalogue';

export interface RedisOptions {
  /** redis:// or rediss://, with user, password and db; of a cluster or Sentinel these and TLS only. */
  readonly url: string;
  readonly clusterNodes?: readonly Address[] | undefined;
  readonly sentinels?: { readonly nodes: readonly Address[]; readonly master: string } | undefined;
  /** What the keys begin with; `plant-store` by default. */
  readonly keyPrefix?: string;
  /** How many replicas must hold an append before it is acknowledged; 0 by default, and always on a cluster. */
  readonly waitReplicas?: number;
  /** Within how long a request of a client is answered, in ms, 2000 by default; a command to Redis gets half of it. */
  readonly timeoutMs?: number;
  /** Whether to open also while Redis cannot be reached; true by default. */
  readonly mayBeAway?: boolean;
  /** Told of connections that come and go, and of what is unsafe about the server. Silent by default. */
  readonly report?: (level: 'info' | 'warn' | 'error', message: string) => void;
}

/** Where events are kept, opened. */
export interface OpenEventStore {
  readonly store: EventStore;
  readonly catalogue: StreamCatalogue;
  /** Resolves where the store answers, and rejects where it does not. Costs it next to nothing. */
  check(): Promise<unknown>;
  close(): void;
}

/** How long opening waits to learn whether Redis is fit; after that every call fails until it is. */
const FIRST_CONTACT_MS = 1500;

/**
 * Rejects with {@link StoreUnavailable} where Redis answers and must not be
 * used (a replica, one that evicts keys …), with what to do about it. Where
 * Redis cannot be reached yet, it resolves, unless told otherwise, and the
 * store fails with StoreUnavailable until it can.
 */
export async function openRedisEventStore(options: RedisOptions): Promise<OpenEventStore> {
  const { keyPrefix = 'plant-store', waitReplicas = 0, timeoutMs = 2000 } = options;
  const { mayBeAway = true, report = () => {} } = options;
  const connection = () => new RedisConnection({ ...options, timeoutMs, report });
  const writer = connection();
  // Behind an append that waits for replicas, reads would wait too.
  const reader = waitReplicas > 0 ? connection() : writer;
  const close = () => {
    writer.close();
    reader.close();
  };

  const unreachable = await Promise.race([
    Promise.all([writer.examined, reader.examined]).then(() => undefined),
    delay(FIRST_CONTACT_MS, 'unreachable', { ref: false }),
  ]);
  const trouble = writer.trouble ?? reader.trouble;
  if (unreachable && mayBeAway)
    report('warn', 'Redis cannot be reached yet; every request fails until it can');
  else if (trouble !== undefined) {
    close();
    throw new StoreUnavailable(trouble);
  }
  return {
    store: new RedisEventStore(writer, reader, { keyPrefix, waitReplicas }),
    catalogue: new RedisStreamCatalogue(writer, { keyPrefix, waitReplicas }),
    check: () => Promise.all([writer.check(), reader.check()]),
    close,
  };
}
