import type { Clock } from '../../event-sourcing';

/** The default clock of this adapter, because adapters do not depend on each other. */
export const PROCESS_CLOCK: Clock = {
  now: () => performance.now(),
  after(ms, action) {
    const timer = setTimeout(action, ms).unref();
    return () => clearTimeout(timer);
  },
};
