import {
  ArchivedHistory,
  HistoryChanged,
  OutcomeUnknown,
  StoreUnavailable,
  UnreadableHistory,
} from '../../event-sourcing';

/** The exit codes. They never change, because scripts rely on them. docs/command-line.md has the same list. */
export const EXIT = {
  done: { code: 0, description: 'done' },
  refused: { code: 1, description: 'refused by a rule, or a problem was found; the message says which' },
  usage: { code: 2, description: 'wrong usage or configuration; nothing was done' },
  unavailable: { code: 3, description: 'the event store is unavailable: repeat the command' },
  unknown: { code: 4, description: 'the outcome is unknown: check, or repeat the command' },
  bug: { code: 70, description: 'a bug in plant-store; standard error has the stack' },
  interrupted: { code: 130, description: 'interrupted by Ctrl-C or SIGTERM' },
  brokenPipe: { code: 141, description: 'the reader of the output closed the pipe' },
} as const;

export type Exit = keyof typeof EXIT;

/** The command is valid but cannot be carried out. The message is shown to the user as it is. */
export class Refused extends Error {
  override readonly name = 'Refused';
}

/** The configuration is invalid. The message says how to correct it. */
export class Misconfigured extends Error {
  override readonly name = 'Misconfigured';
}

/** The command line is invalid. */
export class WrongUsage extends Error {
  override readonly name = 'WrongUsage';
}

/** Ctrl-C or SIGTERM ended the command. The message says what was done until then. */
export class Interrupted extends Error {
  override readonly name = 'Interrupted';
}

interface CommandFailure {
  readonly exit: Exit;
  /** Absent if nothing is printed. */
  readonly message?: string;
}

/** Whether the error is about the history of one user: the store is available. */
export function isOfHistory(error: unknown): error is Error {
  return [UnreadableHistory, HistoryChanged, ArchivedHistory].some((Of) => error instanceof Of);
}

/** The exit code and the message for an error that a command threw. */
export function commandFailureOf(error: unknown): CommandFailure {
  if (error instanceof Refused) return { exit: 'refused', message: error.message };
  if (error instanceof Interrupted) return { exit: 'interrupted', message: error.message };
  if (error instanceof WrongUsage || error instanceof Misconfigured)
    return { exit: 'usage', message: error.message };
  if (isOfHistory(error)) return { exit: 'refused', message: error.message };
  if (error instanceof StoreUnavailable)
    return { exit: 'unavailable', message: `the event store is unavailable: ${messagesOf(error)}` };
  if (error instanceof OutcomeUnknown)
    return { exit: 'unknown', message: `the outcome is unknown: ${messagesOf(error)}` };
  const { code, syscall, path } = error as NodeJS.ErrnoException;
  if (code === 'EPIPE') return { exit: 'brokenPipe' };
  if (code !== undefined && syscall !== undefined)
    return {
      exit: 'refused',
      message: `${path ?? 'a file'}: ${FILE_ERRORS[code] ?? `${syscall} failed with ${code}`}`,
    };
  return { exit: 'bug', message: error instanceof Error ? (error.stack ?? error.message) : String(error) };
}

const FILE_ERRORS: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file or directory',
  EACCES: 'permission denied',
  EISDIR: 'is a directory',
  ENOSPC: 'no space left on the device',
};

function messagesOf(error: Error): string {
  return error.cause instanceof Error ? `${error.message} (${messagesOf(error.cause)})` : error.message;
}
