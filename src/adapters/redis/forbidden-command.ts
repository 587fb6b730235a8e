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
 * Returns whether this error says that the server forbids a command for good. Every error reply
 * counts except those about the state of the server or the connection, because the command may
 * succeed later. A command may be forbidden (NOPERM), renamed or disabled (unknown command), and providers
 * have messages of their own.
 */
export function forbidsCommand(error: unknown): error is Error {
  if (!(error instanceof ReplyError)) return false;
  const { message } = error as Error;
  return !STATES.some((state) => message.startsWith(state));
}
