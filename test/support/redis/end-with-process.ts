import { constants } from 'node:os';

/**
 * What a test starts outside this process must not survive it, also when the run
 * is interrupted. The ordinary way is a hook that awaits the end; this is the
 * last resort. It is synchronous because nothing else runs while a process exits,
 * and it cannot help against SIGKILL.
 */
const endings = new Set<() => void>();

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** Has `end` called when this process exits. Call what it returns once the thing has ended in the ordinary way. */
export function endWithProcess(end: () => void): () => void {
  if (endings.size === 0) {
    process.on('exit', endAll);
    for (const signal of SIGNALS) process.on(signal, exitBy);
  }
  endings.add(end);
  return () => {
    if (!endings.delete(end) || endings.size > 0) return;
    process.off('exit', endAll);
    for (const signal of SIGNALS) process.off(signal, exitBy);
  };
}

/** The last first, for what came later may stand on what was there before. */
function endAll(): void {
  for (const end of [...endings].reverse()) end();
}

/** A signal's default action ends the process without the event `exit`. */
function exitBy(signal: NodeJS.Signals): void {
  process.exit(128 + constants.signals[signal]);
}
