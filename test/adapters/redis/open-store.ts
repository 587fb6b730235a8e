import { RedisConnection, type RedisConnectionOptions } from '../../../src/adapters/redis/connection';
import { RedisEventStore, type RedisEventStoreOptions } from '../../../src/adapters/redis/event-store';
import { RedisStreamCatalogue } from '../../../src/adapters/redis/stream-catalogue';
import { systemClock } from '../../../src/adapters/system/clock';
import { commitIds } from '../../../src/adapters/system/commit-id';
import { type CollectionObserver, type EventStore, PlantStore } from '../../../src/application';

/** For tests in which the time must not pass, on a busy machine either. */
const UNHURRIED_MS = 10_000;

/** `timeoutMs` is as STORE_TIMEOUT_MS; a single command gets half of it. */
export interface OpenOptions
  extends Partial<Omit<RedisConnectionOptions, 'url' | 'waitReplicas'>>, Partial<RedisEventStoreOptions> {}

/** A store and its catalogue on a connection of their own, as each instance of the service has one. */
export async function openStore(
  url: string,
  { keyPrefix = 'plant-store', waitReplicas = 0, pageSize, appendBounds, ...rest }: OpenOptions = {},
) {
  const connection = new RedisConnection({
    url,
    timeoutMs: UNHURRIED_MS,
    report: () => {},
    waitReplicas,
    ...rest,
  });
  await connection.examined;
  const options = { keyPrefix, waitReplicas };
  return {
    store: new RedisEventStore(connection, connection, {
      ...options,
      ...(pageSize === undefined ? {} : { pageSize }),
      ...(appendBounds === undefined ? {} : { appendBounds }),
    }),
    catalogue: new RedisStreamCatalogue(connection, options),
    close: async () => connection.close(),
  };
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
