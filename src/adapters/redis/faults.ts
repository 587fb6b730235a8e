import { ReplyError } from 'ioredis';
import { OutcomeUnknown, StoreUnavailable } from '../../application';

/**
 * Which kind of fault an error of ioredis is, for a command that writes.
 *
 * An error reply means that nothing was written: Redis refuses a script before
 * its first write (OOM, MISCONF, READONLY, NOREPLICAS, LOADING, BUSY, NOSCRIPT,
 * CLUSTERDOWN …) and the script checks before its own. A command that was never
 * sent did nothing either. Everything else (a timeout, a connection that broke
 * under it) leaves it open.
 */
export function appendFault(error: unknown): StoreUnavailable | OutcomeUnknown {
  if (error instanceof StoreUnavailable || error instanceof OutcomeUnknown) return error;
  if (error instanceof ReplyError || wasNeverSent(error)) return readFault(error);
  return new OutcomeUnknown('Redis did not confirm the append', { cause: error });
}

/** A read changes nothing, however it fails. */
export function readFault(error: unknown): StoreUnavailable {
  return error instanceof StoreUnavailable
    ? error
    : new StoreUnavailable('Redis did not answer', { cause: error });
}

// ioredis has no type or code for it: with its offline queue off, this is what it says of a command it did not send.
function wasNeverSent(error: unknown): boolean {
  return error instanceof Error && error.message.endsWith('enableOfflineQueue options is false');
}
