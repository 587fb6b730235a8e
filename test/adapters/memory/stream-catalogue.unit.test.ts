import { MemoryEventStore } from '../../../src/adapters/memory/event-store';
import { streamCatalogueContract } from '../../contracts/stream-catalogue';

streamCatalogueContract({
  name: 'MemoryEventStore',
  open: async () => {
    const store = new MemoryEventStore();
    return { store, catalogue: store, close: async () => {} };
  },
});
