import type { Clock } from './application';

/** For how long an answer holds: however many probe, the store is asked about once in this time. */
const SHARED_MS = 1000;

/**
 * Whether the store answers, for whoever probes. Not where `ask` rejects, and
 * not where it takes longer than `timeoutMs`.
 */
export function readiness(
  ask: () => Promise<unknown>,
  clock: Clock,
  timeoutMs: number,
): () => Promise<boolean> {
  let ready = Promise.resolve(false);
  let until = -Infinity;
  return () => {
    if (clock.now() >= until) {
      until = Infinity;
      ready = within(timeoutMs, ask, clock);
      void ready.then(() => (until = clock.now() + SHARED_MS));
    }
    return ready;
  };
}

function within(timeoutMs: number, ask: () => Promise<unknown>, clock: Clock): Promise<boolean> {
  return new Promise((resolve) => {
    const cancel = clock.after(timeoutMs, () => resolve(false));
    const tell = (answered: boolean) => {
      cancel();
      resolve(answered);
    };
    ask().then(
      () => tell(true),
      () => tell(false),
    );
  });
}
