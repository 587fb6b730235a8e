import { ReplyError } from 'ioredis';
import { OutcomeUnknown, StoreUnavailable } from '../../event-sourcing';

/**
 * Maps an ioredis error of a write to the faults of the port.
 *
 * An error reply means that nothing was written: Redis refuses a script before
 * its first write (OOM, MISCONF, READONLY, NOREPLICAS, LOADING, BUSY, NOSCRIPT,
 * CLUSTERDOWN …), and the script checks before it writes. The same holds for a
 * command that was never sent. After any other error (a timeout, a lost
 * connection) the outcome is unknown.
 */
export function appendFault(error: unknown): StoreUnavailable | OutcomeUnknown {
  if (error instanceof StoreUnavailable || error instanceof OutcomeUnknown) return error;
  if (error instanceof ReplyError || wasNeverSent(error)) return readFault(error);
  return new OutcomeUnknown('Redis did not confirm the append', { cause: error });
}

/** Maps an ioredis error of a read: a read changes nothing, so it is always unavailable. */
export function readFault(error: unknown): StoreUnavailable {
  return error instanceof StoreUnavailable
    ? error
    : error instanceof ReplyError
      ? new StoreUnavailable('Redis refused the call', { reason: 'store_refused', cause: error })
      : new StoreUnavailable('Redis did not answer', { cause: error });
}

/** Makes a call that writes. Rejects with the faults of {@link appendFault}. */
export async function writing<T>(call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    throw appendFault(error);
  }
}

/** Makes a call that reads. Rejects with the fault of {@link readFault}. */
export async function reading<T>(call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    throw readFault(error);
  }
}

/** The fault of a write that too few replicas have confirmed. `answer` is that of WAIT, or its error. */
export function waitFault(waitReplicas: number, answer: unknown): OutcomeUnknown {
  return new OutcomeUnknown(`WAIT for ${waitReplicas} replicas was answered: ${String(answer)}`);
}

// ioredis has no type or code for it: this is its message for an unsent command without an offline queue.
function wasNeverSent(error: unknown): boolean {
  return error instanceof Error && error.message.endsWith('enableOfflineQueue options is false');
}
