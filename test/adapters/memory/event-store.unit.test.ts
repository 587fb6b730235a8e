import { MemoryCheckpoints, MemoryEventStore, MemoryLeases } from '../../../src/adapters/memory';
import { checkpointStoreContract, leaseStoreContract, streamCatalogueContract } from '../../../src/testing';
import { CONTRACT_OPTIONS, describeContract, describeEventStore } from '../../contracts/event-store';

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

describeContract(
  'MemoryEventStore satisfies the contract of a stream catalogue',
  streamCatalogueContract(() => {
    const store = new MemoryEventStore();
    return { store, catalogue: store };
  }, CONTRACT_OPTIONS),
);

describeContract(
  'MemoryCheckpoints satisfy the contract of a checkpoint store',
  checkpointStoreContract(() => {
    const store = new MemoryEventStore();
    return { store, feed: store.feed, checkpoints: () => new MemoryCheckpoints() };
  }, CONTRACT_OPTIONS),
);

describeContract(
  'MemoryLeases satisfy the contract of a lease store',
  leaseStoreContract(() => ({ store: new MemoryEventStore(), leases: new MemoryLeases() }), CONTRACT_OPTIONS),
);
