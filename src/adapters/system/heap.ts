import { getHeapStatistics } from 'node:v8';

/** The rest is for requests, answers and the garbage collector, which needs room to work in. */
const SHARE = 0.4;

/** How much of this process's heap limit (`--max-old-space-size`) plants may take, in bytes. */
export function heapShare(): number {
  return Math.floor(getHeapStatistics().heap_size_limit * SHARE);
}
