import { MemoryEventStore } from '../../../src/adapters/memory';
import { describeEventStore } from '../../contracts/event-store';

for (const pageSize of [1, 3, 1000]) {
  describeEventStore({
    name: `MemoryEventStore with ${pageSize} to a page`,
    pageSize,
    open: () => ({
      store: pageSize === 1000 ? new MemoryEventStore() : new MemoryEventStore(pageSize),
    }),
  });
}
