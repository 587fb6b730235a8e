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
  return { clock: systemClock, mintCommit: commitIds(), gather: startOncePerTurn() };
}

/**
 * Starts all rounds of a turn of the event loop together, at its end. So their store calls and responses are made together,
 * too: after each immediate, Node would do all work that it causes. A start must not throw.
 */
function startOncePerTurn(): (start: () => void) => void {
  let gathered: (() => void)[] = [];
  const startAll = () => {
    const starts = gathered;
    gathered = [];
    for (const start of starts) start();
  };
  return (start) => {
    if (gathered.push(start) === 1) setImmediate(startAll);
  };
}
