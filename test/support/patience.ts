import { availableParallelism, loadavg } from 'node:os';

/**
 * The factor by which work slows down if the machine has more running processes than cores; 1 if it has enough cores.
 *
 * @param load the number of processes that need a core; by default the average of the last minute.
 */
export function overcommitment(load = loadavg()[0]!, cores = availableParallelism()): number {
  return Math.max(1, load / cores);
}

/** The bound of a promised time, widened by the present load of the machine: `ms` on an idle one. */
export function patient(ms: number): number {
  return ms * overcommitment();
}
