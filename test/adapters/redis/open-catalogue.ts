import { RedisConnection, type RedisConnectionOptions } from '../../../src/adapters/redis/connection';
import { RedisEventStore } from '../../../src/adapters/redis/event-store';
import { RedisStreamCatalogue } from '../../../src/adapters/redis/stream-catalogue';
import { UNHURRIED_MS } from './open-store';

export interface CatalogueOptions extends Partial<RedisConnectionOptions> {
  readonly keyPrefix?: string;
  readonly waitReplicas?: number;
}

/** An event store and its catalogue on one connection. */
export async function openCatalogue(
  url: string,
  { keyPrefix = 'plant-store', waitReplicas = 0, ...rest }: CatalogueOptions = {},
) {
  const connection = new RedisConnection({ url, timeoutMs: UNHURRIED_MS, report: () => {}, ...rest });
  await connection.examined;
  const options = { keyPrefix, waitReplicas };
  return {
    store: new RedisEventStore(connection, connection, options),
    catalogue: new RedisStreamCatalogue(connection, options),
    close: async () => connection.close(),
  };
}
