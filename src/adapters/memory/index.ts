export { MemoryCheckpoints } from './checkpoints';
/** The public interface of the memory adapter. */
export { MemoryEventStore } from './event-store';
