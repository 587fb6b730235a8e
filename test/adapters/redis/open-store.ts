import { ChangeNotifier } from '../../../src/adapters/redis/change-notifier';
import { RedisCheckpoints } from '../../../src/adapters/redis/checkpoints';
import { mintCommit } from '../../../src/adapters/redis/commit-id';
import { RedisConnection, type RedisConnectionOptions } from '../../../src/adapters/redis/connection';
import { RedisEventStore, type RedisEventStoreOptions } from '../../../src/adapters/redis/event-store';
import { RedisFeed } from '../../../src/adapters/redis/feed';
import { RedisLeases } from '../../../src/adapters/redis/leases';
import { RedisSnapshotStore } from '../../../src/adapters/redis/snapshot-store';
import { RedisStreamArchive } from '../../../src/adapters/redis/stream-archive';
import { RedisStreamCatalogue } from '../../../src/adapters/redis/stream-catalogue';
import { systemClock } from '../../../src/adapters/system/clock';
import { PlantStore, type PlantStoreOptions } from '../../../src/application';
import { type AggregateObserver, type EventStore } from '../../../src/event-sourcing';

/** A timeout that must not expire, even on a busy machine. */
const UNHURRIED_MS = 10_000;

/** `timeoutMs` is STORE_TIMEOUT_MS; a single command gets half of it. */
export interface OpenOptions
  extends Partial<Omit<RedisConnectionOptions, 'url' | 'waitReplicas'>>, Partial<RedisEventStoreOptions> {}

/** A store and its catalogue on a new connection, as in each instance of the service. */
export async function openStore(
  url: string,
  {
    keyPrefix = 'plant-store',
    waitReplicas = 0,
    pageSize,
    feedLength,
    appendBounds,
    ...rest
  }: OpenOptions = {},
) {
  const connect = () =>
    new RedisConnection({ url, timeoutMs: UNHURRIED_MS, report: () => {}, waitReplicas, ...rest });
  const connection = connect();
  const notifier = rest.clusterNodes ? undefined : new ChangeNotifier(connect, keyPrefix);
  await connection.examined;
  const options = { keyPrefix, waitReplicas };
  return {
    connection,
    store: new RedisEventStore(connection, connection, {
      ...options,
      pageSize,
      feedLength,
      ...(appendBounds === undefined ? {} : { appendBounds }),
    }),
    catalogue: new RedisStreamCatalogue(connection, options),
    snapshots: new RedisSnapshotStore(connection, options),
    archive: new RedisStreamArchive(connection, options),
    checkpoints: (projection: string) => new RedisCheckpoints(connection, options, projection),
    leases: new RedisLeases(connection, options),
    feed: new RedisFeed(connection, { keyPrefix, notifier }),
    async close() {
      connection.close();
      notifier?.close();
    },
  };
}

/** The use cases over `store`, configured as by bootstrap. */
export function plantsOver(
  store: EventStore,
  observer: AggregateObserver = {},
  snapshots?: PlantStoreOptions['snapshots'],
): PlantStore {
  return new PlantStore({
    store,
    clock: systemClock,
    mintCommit,
    timeoutMs: UNHURRIED_MS,
    maxWaiting: 1024,
    cacheMaxItems: 1_000_000,
    observer,
    snapshots,
  });
}
