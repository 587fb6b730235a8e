/** The public interface of the system adapter: clock, randomness and limits of the process. */
import { systemClock } from './clock';
import { commitIds } from './commit-id';
import { heapShare } from './heap';

export { openFileLimit } from './open-file-limit';
export { commitIds, heapShare, systemClock };

/**
 * Options for a plant store in this process: `new PlantStore({ ...system(), store })`.
 * Requests that arrive in one turn of the event loop share a round.
 */
export function system() {
  const gather = (start: () => void): void => void setImmediate(start);
  return { clock: systemClock, mintCommit: commitIds(), gather };
}
