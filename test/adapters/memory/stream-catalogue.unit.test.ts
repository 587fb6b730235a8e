import type { PlantEvent } from '../../../src/domain';
import { MemoryEventStore } from '../../../src/adapters/memory/event-store';
import { streamCatalogueContract } from '../../contracts/stream-catalogue';

streamCatalogueContract({
  name: 'MemoryEventStore',
  open: async () => {
    const store = new MemoryEventStore<PlantEvent>();
    return { store, catalogue: store, close: async () => {} };
  },
});
