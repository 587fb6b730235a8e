/** The public interface of the Redis adapter. */
export { type OpenRedisEventStore, type RedisOptions, type RedisStatus, openRedisEventStore } from './open';
export { convertStore } from './conversion';
export { streamKey } from './stream-key';
export type { Address } from './sentinels';
