/** How many orders have each status: a read model over all orders, in memory. */
import { MemoryCheckpoints } from 'plant-store/adapters/memory';
import { system } from 'plant-store/adapters/system';
import { type ProjectedStore, type StreamName, atLeastOnce, project } from 'plant-store/event-sourcing';
import { type Order, type OrderEvent, type OrderStatus, orderDecider } from './order.js';
import { codec } from './store.js';

export function countOrders(store: ProjectedStore) {
  const orders = new Map<StreamName, Order>();
  const projection = project<OrderEvent>(store, {
    codec,
    ...system(),
    ...atLeastOnce<OrderEvent>(new MemoryCheckpoints(), (slices) => {
      for (const { stream, restarts, events } of slices) {
        const known = restarts ? undefined : orders.get(stream);
        const before = known ?? orderDecider.initialState();
        orders.set(stream, events.map(({ event }) => event).reduce(orderDecider.evolve, before));
      }
    }),
    lostTail: ({ bucket }) => console.warn(`the store has lost its last events in bucket ${bucket}`),
  });
  const count = (status: OrderStatus) =>
    [...orders.values()].filter((order) => order.status === status).length;
  return { projection, count };
}
