/** The codec and the store of the events of orders. */
import { MemoryEventStore } from 'plant-store/adapters/memory';
import { openRedisEventStore } from 'plant-store/adapters/redis';
import { type StateCodec, jsonCodec } from 'plant-store/event-sourcing';
import { type Order, type OrderEvent, isWhole } from './order.js';

export const codec = jsonCodec<OrderEvent>({
  LineAdded: { article: (value) => typeof value === 'string', quantity: isWhole, price: isWhole },
  OrderPlaced: { total: isWhole },
  OrderPaid: { amount: isWhole },
  OrderCancelled: {},
});

/** How the state of an order is written, as a snapshot: the engine then loads a long stream from its newest one. */
export const orderCodec: StateCodec<Order> = {
  format: 'order-1',
  encode: (order) => [JSON.stringify(order)],
  readers: { 'order-1': (_, chunk) => JSON.parse(chunk) as Order },
};

/** A store in Redis at REDIS_URL, or in memory. */
export async function openStore(keyPrefix: string) {
  const url = process.env['REDIS_URL'];
  if (url) return openRedisEventStore({ url, keyPrefix });
  const store = new MemoryEventStore();
  return { store, feed: store.feed, catalogue: store, snapshots: undefined, close: undefined };
}
