import { availableParallelism, loadavg } from 'node:os';

/**
 * How many times as long all takes on a machine with more to do than it has cores for; 1 where there are enough.
 *
 * @param load how many processes want a core; on average in the last minute by default.
 */
export function overcommitment(load = loadavg()[0]!, cores = availableParallelism()): number {
  return Math.max(1, load / cores);
}

/** The bound of a promised time, as wide as the machine is overcommitted just now: `ms` on an idle one. */
export function patient(ms: number): number {
  return ms * overcommitment();
}
