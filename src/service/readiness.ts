import type { Readiness } from '../adapters/http';
import type { Clock } from '../event-sourcing';

/** How long a result is shared: the store is checked about once in this time, however many probes there are. */
const SHARED_MS = 1000;

export const NOTHING_WORKS: Readiness = { reads: false, writes: false };

/**
 * What the service can do, for the probes of `/health/ready`: nothing where `check` rejects or takes longer than
 * `timeoutMs`.
 */
export function readiness(
  check: () => Promise<{ readonly writes: boolean }>,
  clock: Clock,
  timeoutMs: number,
): () => Promise<Readiness> {
  let ready = Promise.resolve(NOTHING_WORKS);
  let until = -Infinity;
  return () => {
    if (clock.now() >= until) {
      until = Infinity;
      ready = within(timeoutMs, check, clock);
      void ready.then(() => (until = clock.now() + SHARED_MS));
    }
    return ready;
  };
}

function within(
  timeoutMs: number,
  check: () => Promise<{ readonly writes: boolean }>,
  clock: Clock,
): Promise<Readiness> {
  return new Promise((resolve) => {
    const cancel = clock.after(timeoutMs, () => resolve(NOTHING_WORKS));
    const settle = (readiness: Readiness) => {
      cancel();
      resolve(readiness);
    };
    check().then(
      ({ writes }) => settle({ reads: true, writes }),
      () => settle(NOTHING_WORKS),
    );
  });
}
