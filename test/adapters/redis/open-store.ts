import { RedisConnection } from '../../../src/adapters/redis/connection';
import { RedisEventStore, type RedisEventStoreOptions } from '../../../src/adapters/redis/event-store';

export interface OpenOptions extends Partial<RedisEventStoreOptions> {
  /** As STORE_TIMEOUT_MS; a single command gets half of it. */
  readonly timeoutMs?: number;
}

/** A store on a connection of its own, as each instance of the service has one. */
export async function openStore(url: string, { timeoutMs = 2000, ...options }: OpenOptions = {}) {
  const connection = new RedisConnection({ url, timeoutMs, report: () => {} });
  await connection.examined;
  const store = new RedisEventStore(connection, connection, {
    keyPrefix: 'plant-store',
    waitReplicas: 0,
    ...options,
  });
  return { store, close: async () => connection.close() };
}
