import type { Clock } from '../../event-sourcing';

/** Node takes 1 ms for a longer timer, such as the one of `examineEveryMs: Infinity`. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** The default clock of this adapter, because adapters do not depend on each other. */
export const PROCESS_CLOCK: Clock = {
  now: () => performance.now(),
  after(ms, action) {
    const timer = setTimeout(action, Math.min(ms, LONGEST_TIMER_MS)).unref();
    return () => clearTimeout(timer);
  },
};
