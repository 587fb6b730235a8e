import { getHeapStatistics, setFlagsFromString } from 'node:v8';

/** Share of the heap limit; the rest is for requests, answers and the garbage collector. */
export const HEAP_SHARE = 0.4;

/** Memory for plants, in bytes: a share of the heap limit (`--max-old-space-size`). */
export function heapShare(): number {
  return Math.floor(getHeapStatistics().heap_size_limit * HEAP_SHARE);
}

/** V8's flags for the heap of a service. */
export const HEAP_FLAGS: readonly string[] = [
  // The heap may triple between two full garbage collections: the slower objects become old, the more often V8 collects by
  // itself.
  '--heap-growing-percent=200',
  // Each object begins young. V8 would create some among the old ones, and these keep everything young that they refer to
  // until the next full collection, even when nothing needs it any more.
  '--no-allocation-site-pretenuring',
];

/** Sets {@link HEAP_FLAGS} for this process. */
export function tuneHeap(): void {
  for (const flag of HEAP_FLAGS) setFlagsFromString(flag);
}
