import { ReplyError } from 'ioredis';

const STATES = [
  'LOADING',
  'BUSY',
  'MASTERDOWN',
  'CLUSTERDOWN',
  'TRYAGAIN',
  'MOVED',
  'ASK',
  'NOAUTH',
  'WRONGPASS',
  'OOM',
  'MISCONF',
  'READONLY',
  'NOREPLICAS',
  'ERR max number of clients',
];

/**
 * Returns whether this error says that the server forbids a command for good: it denies the right
 * (NOPERM), or the command is renamed or disabled (unknown command), and providers have messages of
 * their own. So every error reply counts, except those about the state of the server or of the
 * connection, because the command may succeed later.
 */
export function forbidsCommand(error: unknown): error is Error {
  if (!(error instanceof ReplyError)) return false;
  const { message } = error as Error;
  return !STATES.some((state) => message.startsWith(state));
}
