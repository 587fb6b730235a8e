export { MemoryCheckpoints } from './checkpoints';
export { MemoryLeases } from './leases';
/** The public interface of the memory adapter. */
export { MemoryEventStore } from './event-store';
