/** The public interface of the Redis adapter. */
export { type OpenEventStore, type RedisOptions, type StoreStatus, openRedisEventStore } from './open';
export type { Address } from './client';
