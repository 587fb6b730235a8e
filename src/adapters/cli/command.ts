import type { Clock, EventStore, PlantStore, StreamCatalogue, User } from '../../application';
import type { Arguments, Options } from './arguments';
import { type Exit, Interrupted } from './exit';
import type { Terminal } from './terminal';

/** What commands work with. The composition root brings it along; tests bring their own. */
export interface World {
  readonly terminal: Terminal;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly clock: Clock;
  readonly version: string;
  /** Rejects with `Misconfigured`, or `StoreUnavailable` where it is away or must not be used. */
  openStore(): Promise<OpenStore>;
  /** Makes a token and adds it to the file at `path`. Rejects with `Refused`. */
  newToken(path: string, token: { readonly user: User; readonly note?: string }): Promise<string>;
  /** Runs the service to its end; its exit code. */
  serve(args: readonly string[]): Promise<number>;
  /** From this call on, Ctrl-C and SIGTERM abort the signal instead of ending the process. */
  untilInterrupted(): AbortSignal;
}

export interface OpenStore {
  readonly store: EventStore;
  readonly catalogue: StreamCatalogue;
  readonly plants: PlantStore;
  /** Within how long a write that is under way anywhere comes to its end, in ms. */
  readonly timeoutMs: number;
  close(): void;
}

export interface Command {
  /** As it is typed. */
  readonly name: string;
  /** In one line, for the list of commands. */
  readonly summary: string;
  readonly options: Options;
  /** What stands for the one argument that is no option, where it may have one. */
  readonly positional?: string;
  /** What there is to know: what it does, what it does not, examples. Lines of up to 90 characters. */
  readonly details: readonly string[];
  run(args: Arguments, world: World): Promise<Exit>;
}

/** One that has its own way with its arguments, `--help` included, and its own exit codes. */
export interface PassedOn {
  readonly name: string;
  readonly summary: string;
  passOn(args: readonly string[], world: World): Promise<number>;
}

export async function withStore(world: World, use: (store: OpenStore) => Promise<Exit>): Promise<Exit> {
  const opened = await world.openStore();
  try {
    return await use(opened);
  } finally {
    opened.close();
  }
}

/**
 * Settles as `work` does. Once `interrupted` is aborted it rejects with
 * {@link Interrupted} at once, and the outcome of `work` is ignored.
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
  user: { value: 'NAME', meaning: 'whose plants, as a token speaks for them', required: true },
};

export const JSON_OUTPUT: Options = {
  json: { meaning: 'print JSON, for programs; errors, too' },
};

export const QUIET: Options = {
  quiet: { short: 'q', meaning: 'no progress, and nothing but errors on standard error' },
};

/** Of a command that looks at all streams unless it is told which. */
export const SOME_USERS: Options = {
  user: { value: 'NAME', meaning: 'only this user’s; may be given several times', repeatable: true },
};
