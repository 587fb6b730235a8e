import { MemoryEventStore } from 'plant-store/adapters/memory';
import { openRedisEventStore } from 'plant-store/adapters/redis';
import type { OpenEventStore } from 'plant-store/event-sourcing';

/** A store in Redis at REDIS_URL, or in memory. */
export async function openStore(keyPrefix: string): Promise<OpenEventStore> {
  const url = process.env['REDIS_URL'];
  if (url) return openRedisEventStore({ url, keyPrefix });
  const store = new MemoryEventStore();
  return { store, index: store, check: async () => ({ writes: true }), close: () => {} };
}
