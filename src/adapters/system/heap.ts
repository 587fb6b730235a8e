import { getHeapStatistics, setFlagsFromString } from 'node:v8';

/** Share of the heap limit; the rest is for requests, answers and the garbage collector. */
export const HEAP_SHARE = 0.4;

/** Memory for plants, in bytes: a share of the heap limit (`--max-old-space-size`). */
export function heapShare(): number {
  return Math.floor(getHeapStatistics().heap_size_limit * HEAP_SHARE);
}

/** V8's flag by which the heap may grow by 200 % between two full garbage collections. */
export const HEAP_GROWTH = '--heap-growing-percent=200';

/**
 * Lets the heap of this process triple between two full garbage collections: the slower objects become old, the more often V8
 * collects by itself.
 */
export function letHeapTriple(): void {
  setFlagsFromString(HEAP_GROWTH);
}
