/** The public face of the memory adapter. */
export { MemoryEventStore } from './event-store';
