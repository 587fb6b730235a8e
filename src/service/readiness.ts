import type { Readiness } from '../adapters/http';
import { type Clock, type OpenEventStore, StoreUnavailable } from '../event-sourcing';

/** How long a result is shared: the store is checked about once in this time, however many probes there are. */
const SHARED_MS = 1000;

type CheckedStore = Pick<OpenEventStore, 'check' | 'status'>;

/**
 * What the service can do, for the probes of `/health/ready`: nothing where the check of `store` rejects or takes longer
 * than `timeoutMs`.
 */
export function readiness(store: CheckedStore, clock: Clock, timeoutMs: number): () => Promise<Readiness> {
  let ready: Promise<Readiness> | undefined;
  let until = -Infinity;
  return () => {
    if (ready === undefined || clock.now() >= until) {
      until = Infinity;
      ready = within(timeoutMs, store, clock);
      void ready.then(() => (until = clock.now() + SHARED_MS));
    }
    return ready;
  };
}

function within(timeoutMs: number, store: CheckedStore, clock: Clock): Promise<Readiness> {
  const refusals = () => store.status?.().refusals ?? [];
  return new Promise((resolve) => {
    const cancel = clock.after(timeoutMs, () => resolve(nothingWorks('store_timeout')));
    const settle = (readiness: Readiness) => {
      cancel();
      resolve(readiness);
    };
    store.check().then(
      ({ writes }) =>
        settle({ reads: true, writes, ...(!writes && { reasons: ['writes_refused', ...refusals()] }) }),
      (error: unknown) => {
        const isRefusal = error instanceof StoreUnavailable && error.reason === 'store_refused';
        settle(isRefusal ? nothingWorks('reads_refused', ...refusals()) : nothingWorks('store_unreachable'));
      },
    );
  });
}

function nothingWorks(...reasons: readonly string[]): Readiness {
  return { reads: false, writes: false, reasons };
}
