/** The codec and the store of the events of orders. */
import { MemoryEventStore } from 'plant-store/adapters/memory';
import { openRedisEventStore } from 'plant-store/adapters/redis';
import { jsonCodec } from 'plant-store/event-sourcing';
import { type OrderEvent, isWhole } from './order.js';

export const codec = jsonCodec<OrderEvent>({
  LineAdded: { article: (value) => typeof value === 'string', quantity: isWhole, price: isWhole },
  OrderPlaced: { total: isWhole },
  OrderPaid: { amount: isWhole },
  OrderCancelled: {},
});

/** A store in Redis at REDIS_URL, or in memory. */
export async function openStore(keyPrefix: string) {
  const url = process.env['REDIS_URL'];
  if (url) return openRedisEventStore({ url, keyPrefix });
  return { store: new MemoryEventStore(), close: undefined };
}
