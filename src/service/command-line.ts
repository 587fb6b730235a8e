import { TokenFileBusy, addToken } from '../adapters/auth/new-token';
import { BrokenTokenFile } from '../adapters/auth/token-file-format';
import type { CliStore, CliContext } from '../adapters/cli/command';
import { Misconfigured, Refused } from '../adapters/cli/exit';
import { untilUnread } from '../adapters/cli/pipe-reader';
import { run } from '../adapters/cli/run';
import { Output, escapeForTerminal } from '../adapters/cli/terminal';
import { MemoryCheckpoints } from '../adapters/memory/checkpoints';
import { systemClock } from '../adapters/system/clock';
import { commitIds } from '../adapters/system/commit-id';
import { KINDS, PlantStore } from '../application';
import type { StreamCatalogue } from '../event-sourcing';
import { type Config, readConfig } from './config';
import { runServe } from './serve';
import { problemsText } from './start-text';
import { packageVersion } from './version';

/** Runs one command of `plant-store` to its end. Resolves with the exit code. */
export function runCommandLine(process: NodeJS.Process): Promise<number> {
  return run(process.argv.slice(2), contextOf(process));
}

/** The composition root of the command line: the same adapters as the service's, without its transports. */
function contextOf(process: NodeJS.Process): CliContext {
  const stderr = new Output(process.stderr);
  return {
    terminal: { stdin: process.stdin, stdout: new Output(process.stdout), stderr },
    environment: process.env,
    clock: systemClock,
    version: packageVersion(),
    kinds: KINDS,
    openStore: () => openStore(process.env, (line) => void stderr.line(line).catch(() => {})),
    newCheckpoint: () => new MemoryCheckpoints(),
    serve: runServe,
    redis() {
      const config = storeConfig(process.env);
      if (config.EVENT_STORE !== 'redis')
        throw new Misconfigured(
          'this command is about a store in Redis: set EVENT_STORE=redis and REDIS_URL',
        );
      return loadStores().redisTools(config);
    },
    newToken: async (path, token) => {
      try {
        return await addToken(path, token);
      } catch (error) {
        const known = error instanceof BrokenTokenFile || error instanceof TokenFileBusy;
        const reason = known
          ? error.message
          : `it cannot be written (${(error as NodeJS.ErrnoException).code ?? 'unknown reason'})`;
        throw new Refused(`no token was made, ${escapeForTerminal(path)} is as it was: ${reason}`, {
          cause: error,
        });
      }
    },
    untilInterrupted() {
      const interrupted = new AbortController();
      for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => interrupted.abort());
      return interrupted.signal;
    },
    untilUnread,
  };
}

/**
 * Timeout of one request, in ms. Longer than that of the service, since each command reads the user's whole history.
 */
const REQUEST_TIMEOUT_MS = 60_000;

async function openStore(environment: NodeJS.ProcessEnv, print: (line: string) => void): Promise<CliStore> {
  const config = storeConfig(environment);
  if (config.EVENT_STORE === 'memory')
    throw new Misconfigured(
      'EVENT_STORE is memory, which is empty at the start of this command and lost at its end.\n' +
        '  → set EVENT_STORE=redis and REDIS_URL, or EVENT_STORE=./your-store.js, to the store that your services use',
    );
  const { pino, openEvents, UnusableStoreModule } = loadStores();
  const level = ['error', 'fatal', 'silent'].includes(config.LOG_LEVEL) ? config.LOG_LEVEL : 'warn';
  const log = pino({ level }, { write: (line: string) => print((JSON.parse(line) as { msg: string }).msg) });
  // A command at a wrong address must not write there.
  const options = { allowUnreachable: false, createsId: false };
  const events = await openEvents(config, log, options).catch((error: unknown) => {
    throw error instanceof UnusableStoreModule ? new Misconfigured(error.message, { cause: error }) : error;
  });
  return {
    ...events,
    catalogue: events.catalogue ?? NO_CATALOGUE,
    plants: new PlantStore({
      store: events.store,
      // The command ends before a snapshot would be saved.
      snapshots: events.snapshots && {
        store: events.snapshots,
        every: config.SNAPSHOT_EVERY > 0 ? Infinity : 0,
      },
      clock: systemClock,
      mintCommit: events.mintCommit ?? commitIds(),
      timeoutMs: REQUEST_TIMEOUT_MS,
      maxWaiting: 1,
      cacheMaxItems: 0,
    }),
    timeoutMs: config.STORE_TIMEOUT_MS,
  };
}

function storeConfig(environment: NodeJS.ProcessEnv): Config {
  const { config, problems } = readConfig(environment, { authentication: false });
  if (problems) throw new Misconfigured(problemsText(problems));
  return config;
}

/** The catalogue of a module's store that has none. */
const NO_CATALOGUE: StreamCatalogue = {
  streams: withoutCatalogue,
  find: withoutCatalogue,
  erase: withoutCatalogue,
};

function withoutCatalogue(): never {
  throw new Misconfigured(
    'the store of EVENT_STORE cannot list its streams: its module returns no catalogue, which this command needs',
  );
}

/** Loaded here, because it doubles the time in which a command starts, and only some commands open a store. */
function loadStores() {
  /* eslint-disable @typescript-eslint/no-require-imports -- import() wants a file ending, which ts-node does not have */
  const { pino } = require('pino') as typeof import('pino');
  const { UnusableStoreModule } = require('./store-module') as typeof import('./store-module');
  return { pino, UnusableStoreModule, ...(require('./events') as typeof import('./events')) };
  /* eslint-enable */
}
