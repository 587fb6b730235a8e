import { OutcomeUnknown, StoreUnavailable, UnreadableHistory } from '../../application';

/** What the process ends with. Stable: scripts build on it. docs/command-line.md lists it, too. */
export const EXIT = {
  done: { code: 0, meaning: 'done' },
  refused: { code: 1, meaning: 'a rule said no, or a problem was found; the message says which' },
  usage: { code: 2, meaning: 'wrong usage or configuration; nothing was done' },
  unavailable: { code: 3, meaning: 'the event store is away or refuses; repeat the command' },
  unknown: { code: 4, meaning: 'the outcome is unknown: look, or repeat the command' },
  bug: { code: 70, meaning: 'a bug in plant-store' },
  interrupted: { code: 130, meaning: 'ended by Ctrl-C or SIGTERM before it was done' },
  brokenPipe: { code: 141, meaning: 'nobody read the output to its end' },
} as const;

export type Exit = keyof typeof EXIT;

/** The command was understood and cannot be carried out. The message is for people, and whole. */
export class Refused extends Error {
  override readonly name = 'Refused';
}

/** The configuration does not do. The message says what does. */
export class Misconfigured extends Error {
  override readonly name = 'Misconfigured';
}

/** What was typed is not a command. */
export class WrongUsage extends Error {
  override readonly name = 'WrongUsage';
}

/** Ctrl-C or SIGTERM ended the command. The message says what was done by then. */
export class Interrupted extends Error {
  override readonly name = 'Interrupted';
}

export interface Failure {
  readonly exit: Exit;
  /** `undefined` where silence is expected. */
  readonly message?: string;
}

/** How a command that threw ends, and what is said of it. */
export function failureOf(error: unknown): Failure {
  if (error instanceof Refused) return { exit: 'refused', message: error.message };
  if (error instanceof Interrupted) return { exit: 'interrupted', message: error.message };
  if (error instanceof WrongUsage || error instanceof Misconfigured)
    return { exit: 'usage', message: error.message };
  if (error instanceof UnreadableHistory) return { exit: 'refused', message: error.message };
  if (error instanceof StoreUnavailable)
    return { exit: 'unavailable', message: `the event store is unavailable: ${reasons(error)}` };
  if (error instanceof OutcomeUnknown)
    return { exit: 'unknown', message: `the outcome is unknown: ${reasons(error)}` };
  const { code, syscall, path } = error as NodeJS.ErrnoException;
  if (code === 'EPIPE') return { exit: 'brokenPipe' };
  if (code !== undefined && syscall !== undefined)
    return {
      exit: 'refused',
      message: `${path ?? 'a file'}: ${FILE_TROUBLE[code] ?? `${syscall} failed with ${code}`}`,
    };
  return { exit: 'bug', message: error instanceof Error ? (error.stack ?? error.message) : String(error) };
}

const FILE_TROUBLE: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file or directory',
  EACCES: 'permission denied',
  EISDIR: 'is a directory',
  ENOSPC: 'no space left on the device',
};

function reasons(error: Error): string {
  return error.cause instanceof Error ? `${error.message} (${reasons(error.cause)})` : error.message;
}
