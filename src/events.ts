import type { Logger } from 'pino';
import { MemoryEventStore } from './adapters/memory';
import { type OpenEventStore, openRedisEventStore } from './adapters/redis';
import type { EventStore } from './application';
import type { Config } from './config';

/** What the service itself needs of it. */
export type Events = Pick<OpenEventStore, 'store' | 'check' | 'status' | 'close'>;

/** What cannot be away. */
export function alwaysThere<T extends EventStore>(store: T): Events & { store: T } {
  return { store, check: () => Promise.resolve({ writes: true }), close: () => {} };
}

/**
 * Where events are kept, opened. Rejects with `StoreUnavailable` where Redis answers and must not be used, with what
 * to do about it; unless it may be away, also where it does not answer.
 */
export async function openEvents(
  config: Config,
  log: Logger,
  { mayBeAway } = { mayBeAway: true },
): Promise<OpenEventStore> {
  if (config.EVENT_STORE === 'memory') {
    const store = new MemoryEventStore();
    return { ...alwaysThere(store), catalogue: store };
  }
  return openRedisEventStore({
    mayBeAway,
    url: config.REDIS_URL,
    clusterNodes: config.REDIS_CLUSTER_NODES,
    sentinels: config.REDIS_SENTINELS && {
      nodes: config.REDIS_SENTINELS,
      master: config.REDIS_SENTINEL_MASTER!,
    },
    keyPrefix: config.REDIS_KEY_PREFIX,
    waitReplicas: config.REDIS_WAIT_REPLICAS,
    timeoutMs: config.STORE_TIMEOUT_MS,
    report: (level, message) => log[level](message),
  });
}
