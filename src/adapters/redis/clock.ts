import type { Clock } from '../../event-sourcing';

/** The monotonic clock of this process. Its timers do not keep the process alive. */
export const PROCESS_CLOCK: Clock = {
  now: () => performance.now(),
  after(ms, action) {
    const timer = setTimeout(action, ms).unref();
    return () => clearTimeout(timer);
  },
};
