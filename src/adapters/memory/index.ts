/** The public interface of the memory adapter. */
export { MemoryCheckpoints } from './checkpoints';
export { MemoryLeases } from './leases';
export { MemoryEventStore } from './event-store';
