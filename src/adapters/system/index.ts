/** The public face of the system adapter: what the application asks of the machine it runs on. */
import { systemClock } from './clock';
import { commitIds } from './commit-id';
import { heapShare } from './heap';

export { openFileLimit } from './open-file-limit';
export { commitIds, heapShare, systemClock };

/** All at once: `new PlantStore({ ...system(), store })`. Whoever comes in one turn of the event loop shares a round. */
export function system() {
  const gather = (start: () => void): void => void setImmediate(start);
  return { clock: systemClock, mintCommit: commitIds(), gather };
}
