/** The public face of the Redis adapter. */
export { type OpenEventStore, type RedisOptions, openRedisEventStore } from './open';
export type { Address } from './connection';
