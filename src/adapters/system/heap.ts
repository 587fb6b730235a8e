import { getHeapStatistics } from 'node:v8';

/** Share of the heap limit; the rest is for requests, answers and the garbage collector. */
export const HEAP_SHARE = 0.4;

/** Memory for plants, in bytes: a share of the heap limit (`--max-old-space-size`). */
export function heapShare(): number {
  return Math.floor(getHeapStatistics().heap_size_limit * HEAP_SHARE);
}
