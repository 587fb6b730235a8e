import type { PlantStore, User } from '../../application';
import type {
  AnyKind,
  CheckpointStore,
  Clock,
  OpenEventStore,
  StreamCatalogue,
  StreamName,
} from '../../event-sourcing';
import type { Arguments, Options } from './arguments';
import { type Exit, Interrupted } from './exit';
import type { Terminal } from './terminal';

/** The environment of a command: terminal, clock, store. The composition root provides it; tests provide their own. */
export interface CliContext {
  readonly terminal: Terminal;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly clock: Clock;
  readonly version: string;
  /** Every kind of aggregate that the store may have. */
  readonly kinds: readonly AnyKind[];
  /** Rejects with `Misconfigured`, or with `StoreUnavailable` if the store cannot be reached or is not safe to use. */
  openStore(): Promise<CliStore>;
  /** A new checkpoint, which is lost at the end of the command. */
  readonly newCheckpoint: () => CheckpointStore;
  /** What concerns Redis alone. Throws `Misconfigured` if the store is not in Redis. */
  redis(): RedisTools;
  /** Creates a token and adds its digest to the file at `path`. Rejects with `Refused`. */
  newToken(path: string, token: { readonly user: User; readonly note?: string }): Promise<string>;
  /** Runs the service until it stops; resolves with its exit code. */
  serve(args: readonly string[]): Promise<number>;
  /** After this call, Ctrl-C and SIGTERM abort the signal instead of ending the process. */
  untilInterrupted(): AbortSignal;
  /** The signal is aborted when the reader of standard output closes the pipe, if this machine can notice it. */
  untilUnread(): AbortSignal;
}

export interface RedisTools {
  /** The key of a stream's events. */
  keyOf(stream: StreamName): string;
  /** Converts a store that an earlier version wrote, or back. `refused` are the keys that it could not rename. */
  convert(options: {
    readonly undo: boolean;
    readonly onProgress: (streams: number) => Promise<void>;
  }): Promise<{ id: string | undefined; streams: number; refused: readonly string[] }>;
}

/** The open store that a command works on. */
export interface CliStore extends Omit<OpenEventStore, 'check' | 'mintCommit'> {
  /** Throws `Misconfigured` if the store cannot list its streams. */
  readonly catalogue: StreamCatalogue;
  readonly plants: PlantStore;
  /** Longest time for which a write in flight of a service can still be recorded, in ms. */
  readonly timeoutMs: number;
}

export interface CliCommand {
  /** One or two words. */
  readonly name: string;
  /** One line, for the list of commands. */
  readonly summary: string;
  readonly options: Options;
  /** Placeholder for the positional argument; absent if the command has none. */
  readonly positional?: string;
  /** Behavior, limits and examples. Lines of up to 110 characters. */
  readonly details: readonly string[];
  run(args: Arguments, context: CliContext): Promise<Exit>;
}

/** A command that parses its own arguments, `--help` included, and has its own exit codes. */
export interface RawCommand {
  readonly name: string;
  readonly summary: string;
  runRaw(args: readonly string[], context: CliContext): Promise<number>;
}

export async function withStore(context: CliContext, use: (store: CliStore) => Promise<Exit>): Promise<Exit> {
  const opened = await context.openStore();
  // Neither the timers of the clock nor every store keep the process alive.
  const alive = setInterval(() => {}, 2 ** 30);
  try {
    return await use(opened);
  } finally {
    await opened.close();
    clearInterval(alive);
  }
}

/**
 * Settles as `work` does, or rejects with {@link Interrupted} when `interrupted` is aborted.
 * The outcome of `work` is then ignored.
 */
export async function unlessInterrupted<T>(
  interrupted: AbortSignal,
  work: Promise<T>,
  message = 'interrupted',
): Promise<T> {
  const aborted = new Promise<never>((_, reject) => {
    const end = () => reject(new Interrupted(message));
    if (interrupted.aborted) end();
    else interrupted.addEventListener('abort', end, { once: true });
  });
  return Promise.race([work, aborted]);
}

export const USER: Options = {
  user: { value: 'NAME', description: 'the owner, as in a token', required: true },
};

export const JSON_OUTPUT: Options = {
  json: { description: 'print JSON; errors, too' },
};

export const QUIET: Options = {
  quiet: { short: 'q', description: 'no progress; only errors on standard error' },
};

/** The files that `events archive` wrote. */
export const ARCHIVES: Options = {
  archive: {
    value: 'FILE',
    description: 'an archive, for a stream whose first events it has; may be repeated',
    repeatable: true,
  },
};

/** The options of a command that reads all streams by default. */
export const SOME_USERS: Options = {
  user: { value: 'NAME', description: 'only the events of this user; may be repeated', repeatable: true },
};
