/** The public interface of the Redis adapter. */
export { type OpenRedisEventStore, type RedisOptions, type RedisStatus, openRedisEventStore } from './open';
export type { Address } from './sentinels';
