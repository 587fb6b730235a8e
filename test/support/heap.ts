import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

setFlagsFromString('--expose-gc');
/** Collects all garbage. */
export const gc = runInNewContext('gc') as () => void;

/** Bytes of reachable JavaScript objects. */
export function heapAfterGc(): number {
  gc();
  return process.memoryUsage().heapUsed;
}
