import { RedisConnection } from '../../../src/adapters/redis/connection';
import { RedisEventStore, type RedisEventStoreOptions } from '../../../src/adapters/redis/event-store';
import { systemClock } from '../../../src/adapters/system/clock';
import { commitIds } from '../../../src/adapters/system/commit-id';
import { type CollectionObserver, type EventStore, PlantStore } from '../../../src/application';

/** For tests in which the time must not pass, on a busy machine either; see {@link OpenOptions.timeoutMs}. */
export const UNHURRIED_MS = 10_000;

export interface OpenOptions extends Partial<RedisEventStoreOptions> {
  /** As STORE_TIMEOUT_MS; a single command gets half of it. */
  readonly timeoutMs?: number;
}

/** A store on a connection of its own, as each instance of the service has one. */
export async function openStore(url: string, { timeoutMs = UNHURRIED_MS, ...options }: OpenOptions = {}) {
  const connection = new RedisConnection({ url, timeoutMs, report: () => {} });
  await connection.examined;
  const store = new RedisEventStore(connection, connection, {
    keyPrefix: 'plant-store',
    waitReplicas: 0,
    ...options,
  });
  return { store, close: async () => connection.close() };
}

/** The use cases over `store`, as bootstrap makes them. */
export function plantsOver(store: EventStore, observer: CollectionObserver = {}): PlantStore {
  return new PlantStore({
    store,
    clock: systemClock,
    mintCommit: commitIds(),
    timeoutMs: UNHURRIED_MS,
    maxWaiting: 1024,
    cacheMaxPlants: 1_000_000,
    observer,
  });
}
