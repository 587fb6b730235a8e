/** How many orders have each status: a read model over all orders, in memory. */
import { MemoryCheckpoints } from 'plant-store/adapters/memory';
import { system } from 'plant-store/adapters/system';
import {
  type OpenEventStore,
  type StreamName,
  atLeastOnce,
  project,
} from 'plant-store/event-sourcing';
import { type Order, type OrderEvent, type OrderStatus, orderKind } from './order.js';

export function countOrders(opened: Pick<OpenEventStore, 'store' | 'index'>) {
  const { initialState, evolve } = orderKind.decider;
  const orders = new Map<StreamName, Order>();
  const projection = project<OrderEvent>(opened, {
    ...system(),
    kinds: [orderKind],
    ...atLeastOnce<OrderEvent>(new MemoryCheckpoints(), (slices) => {
      for (const { stream, restarts, events } of slices) {
        const before = restarts ? initialState() : orders.get(stream)!;
        orders.set(stream, events.map(({ event }) => event).reduce(evolve, before));
        // Erased.
        if (restarts && events.length === 0) orders.delete(stream);
      }
    }),
  });
  const count = (status: OrderStatus) =>
    [...orders.values()].filter((order) => order.status === status).length;
  return { projection, count };
}
