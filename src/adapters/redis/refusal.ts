import { ReplyError } from 'ioredis';

/** Error replies about the state of the server or of the connection; it may accept the same command later. */
const STATES =
  /^(?:LOADING|BUSY|MASTERDOWN|CLUSTERDOWN|TRYAGAIN|MOVED|ASK|NOAUTH|WRONGPASS|OOM|MISCONF|READONLY|NOREPLICAS|ERR max number of clients)/;

/**
 * Whether the server refuses a command to its user. Any error reply that is not about the state of the server counts: a
 * command may be forbidden (NOPERM), renamed or disabled (unknown), and providers have words of their own.
 */
export function isRefusal(error: unknown): error is Error {
  return error instanceof ReplyError && !STATES.test((error as Error).message);
}
