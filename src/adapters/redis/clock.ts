import type { Clock } from '../../event-sourcing';

export const PROCESS_CLOCK: Clock = {
  now: () => performance.now(),
  after(ms, action) {
    const timer = setTimeout(action, ms).unref();
    return () => clearTimeout(timer);
  },
};
