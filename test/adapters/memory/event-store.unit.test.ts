import { MemoryEventStore } from '../../../src/adapters/memory';
import { describeEventStore } from '../../contracts/event-store';

for (const pageSize of [1, 3, 1000]) {
  describeEventStore({
    name: `MemoryEventStore with ${pageSize} to a page`,
    pageSize,
    feedLength: 200,
    open: () => {
      const store = new MemoryEventStore(pageSize, 200);
      return { store, feed: store.feed, catalogue: store };
    },
  });
}
