import { MemoryEventStore } from '../../../src/adapters/memory/event-store';
import { eventStoreContract } from '../../contracts/event-store';

for (const pageSize of [1, 3, 1000]) {
  eventStoreContract({
    name: `MemoryEventStore with ${pageSize} to a page`,
    pageSize,
    open: async () => ({
      store: pageSize === 1000 ? new MemoryEventStore() : new MemoryEventStore(pageSize),
      close: async () => {},
    }),
  });
}
