import type { Clock } from '../../application';

/** The process's monotonic clock. Its timers do not keep the process alive: what waits for them does. */
export const systemClock: Clock = {
  now: () => performance.now(),
  after(ms, action) {
    const timer = setTimeout(action, ms);
    timer.unref();
    return () => clearTimeout(timer);
  },
};
