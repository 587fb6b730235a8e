import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

setFlagsFromString('--expose-gc');
export const gc = runInNewContext('gc') as () => void;

/** Returns the bytes of reachable JavaScript objects. */
export function heapAfterGc(): number {
  gc();
  return process.memoryUsage().heapUsed;
}

/**
 * Returns the processor time of `work` in milliseconds, which other programs on the machine do not
 * change.
 */
export function cpuMilliseconds(work: () => void): number {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

/**
 * Returns by how many bytes `work` makes the old generation grow, where only a full collection
 * frees them. This is the median of five runs.
 */
export function oldGrowth(work: () => void): number {
  const used = () =>
    getHeapSpaceStatistics().find((each) => each.space_name === 'old_space')!.space_used_size;
  const grown = Array.from({ length: 5 }, () => -used() + (work(), used()));
  return grown.sort((a, b) => a - b)[2]!;
}
