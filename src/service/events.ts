import type { Logger } from 'pino';
import { MemoryEventStore } from '../adapters/memory';
import { type OpenEventStore, openRedisEventStore } from '../adapters/redis';
import { type PlantStoreOptions, plantCodec, plantListCodec } from '../application';
import type { PlantEvent } from '../domain';
import type { EventStore, SnapshotStore } from '../event-sourcing';
import type { Config } from './config';

/** The part of an open event store that the service uses. */
export type Events = Pick<OpenEventStore<PlantEvent>, 'store' | 'snapshots' | 'check' | 'status' | 'close'>;

/** A store that is always available. */
export function alwaysAvailable<T extends EventStore<PlantEvent>>(store: T): Events & { store: T } {
  return { store, check: () => Promise.resolve({ writes: true }), close: () => {} };
}

/**
 * Opens the event store. Rejects with `StoreUnavailable`, whose message says what to do, if Redis answers and must
 * not be used, and, unless `allowUnreachable`, if Redis does not answer.
 */
export async function openEvents(
  config: Config,
  log: Logger,
  { allowUnreachable } = { allowUnreachable: true },
): Promise<OpenEventStore<PlantEvent>> {
  if (config.EVENT_STORE === 'memory') {
    const store = new MemoryEventStore<PlantEvent>();
    return { ...alwaysAvailable(store), catalogue: store };
  }
  return openRedisEventStore({
    codec: plantCodec,
    allowUnreachable,
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

/** The options of snapshots that are saved after `every` events; none if that is 0, or if there is no store of them. */
export function snapshotOptions(
  store: SnapshotStore | undefined,
  every: number,
): PlantStoreOptions['snapshots'] {
  return store && every > 0 ? { store, codec: plantListCodec, every } : undefined;
}
