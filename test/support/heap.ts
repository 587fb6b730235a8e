import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

setFlagsFromString('--expose-gc');
const gc = runInNewContext('gc') as () => void;

/** Bytes of JavaScript objects that something still holds. */
export function heapAfterGc(): number {
  gc();
  return process.memoryUsage().heapUsed;
}
