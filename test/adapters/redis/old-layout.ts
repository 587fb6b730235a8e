import type { Redis } from 'ioredis';
import type { ConversionOptions } from '../../../src/adapters/redis/conversion';
import { identityKey } from '../../../src/adapters/redis/store-identity';

export const OLD_ID = '11111111-1111-4111-8111-111111111111';

/** As `plant-store events convert` has them. */
export const CONVERSION: Omit<ConversionOptions, 'url'> = {
  keyPrefix: 'plant-store',
  category: 'plants',
  waitReplicas: 0,
  timeoutMs: 10_000,
  storeId: undefined,
  undo: false,
  onProgress: async () => {},
};

/** Makes the store one of a version without buckets, as that wrote it. */
export async function toOldLayout(redis: Redis, prefix = 'plant-store'): Promise<void> {
  for (const key of await redis.keys(`${prefix}:{*}:plants/*`))
    await redis.rename(key, key.replace(/\{\d+\}:plants\/([^:]+)/, '{$1}'));
  await redis.del(identityKey(prefix));
  await redis.xadd(identityKey(prefix), '1-0', 'id', OLD_ID);
}

/** The contents of all keys. */
export async function contentsOf(redis: Redis): Promise<Readonly<Record<string, string>>> {
  const contents: Record<string, string> = {};
  for (const key of (await redis.keys('*')).sort())
    contents[key] = (await redis.dumpBuffer(key)).toString('hex');
  return contents;
}
