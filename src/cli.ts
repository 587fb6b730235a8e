#!/usr/bin/env node
import { TokenFileBusy, addToken } from './adapters/auth/new-token';
import { BrokenTokenFile } from './adapters/auth/token-file-format';
import type { OpenStore, World } from './adapters/cli/command';
import { Misconfigured, Refused } from './adapters/cli/exit';
import { run } from './adapters/cli/run';
import { Output, shown } from './adapters/cli/terminal';
import { systemClock } from './adapters/system/clock';
import { commitIds } from './adapters/system/commit-id';
import { PlantStore } from './application';
import { readConfig } from './config';
import { serve } from './main';
import { missingPackageText, problemsText } from './start-text';
import { packageVersion } from './version';

/** The composition root of the command line: the same adapters as the service's, without the ways into it. */
function worldOf(process: NodeJS.Process): World {
  const stderr = new Output(process.stderr);
  return {
    terminal: { stdin: process.stdin, stdout: new Output(process.stdout), stderr },
    environment: process.env,
    clock: systemClock,
    version: packageVersion(),
    openStore: () => openStore(process.env, (line) => void stderr.line(line).catch(() => {})),
    serve,
    newToken: async (path, token) => {
      try {
        return await addToken(path, token);
      } catch (error) {
        const told = error instanceof BrokenTokenFile || error instanceof TokenFileBusy;
        const reason = told
          ? error.message
          : `it cannot be written (${(error as NodeJS.ErrnoException).code ?? 'why is unknown'})`;
        throw new Refused(`no token was made, ${shown(path)} is as it was: ${reason}`, { cause: error });
      }
    },
    untilInterrupted() {
      const asked = new AbortController();
      for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => asked.abort());
      return asked.signal;
    },
  };
}

/**
 * How long a person waits for one answer, in ms: longer than a client of the
 * service does, since here every command projects the user's history anew.
 */
const PATIENCE_MS = 60_000;

async function openStore(environment: NodeJS.ProcessEnv, say: (line: string) => void): Promise<OpenStore> {
  const { config, problems } = readConfig(environment, { callers: false });
  if (problems) throw new Misconfigured(problemsText(problems));
  if (config.EVENT_STORE === 'memory')
    throw new Misconfigured(
      'EVENT_STORE is memory, which ends with this command: there is nothing to find in it, and nothing would stay.\n' +
        '  → set EVENT_STORE=redis and REDIS_URL to the store that your services use',
    );
  const { pino, openEvents } = loadStores();
  const level = ['error', 'fatal', 'silent'].includes(config.LOG_LEVEL) ? config.LOG_LEVEL : 'warn';
  const log = pino({ level }, { write: (line: string) => say((JSON.parse(line) as { msg: string }).msg) });
  const events = await openEvents(config, log, { mayBeAway: false });
  return {
    ...events,
    plants: new PlantStore({
      store: events.store,
      clock: systemClock,
      mintCommit: commitIds(),
      timeoutMs: PATIENCE_MS,
      maxWaiting: 1,
      cacheMaxPlants: 0,
    }),
    timeoutMs: config.STORE_TIMEOUT_MS,
  };
}

/** Only where a store is opened: most of what is asked of the command line, help above all, needs none. */
function loadStores() {
  try {
    /* eslint-disable @typescript-eslint/no-require-imports -- as in main.ts */
    const { pino } = require('pino') as typeof import('pino');
    return { pino, ...(require('./events') as typeof import('./events')) };
    /* eslint-enable */
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'MODULE_NOT_FOUND') throw error;
    throw new Misconfigured(missingPackageText(error as Error), { cause: error });
  }
}

void run(process.argv.slice(2), worldOf(process)).then((code) => {
  process.exitCode = code;
});
