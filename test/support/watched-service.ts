import { pino } from 'pino';
import { type Overrides, type Service, bootstrap } from '../../src/bootstrap';
import { readConfig } from '../../src/config';
import { problemsText } from '../../src/start-text';
import { noteLine } from './suite-log';

/** User → token. */
export const TOKENS = { alice: 'alice-token.0123456789', bob: 'bob-token_0123456789' } as const;

/** The whole service within this process, with its log to look into: every line of it, down to `trace`. */
export interface WatchedService extends Service {
  readonly log: readonly string[];
}

/** Starts it as `main` does, on a free port. */
export async function startWatched(
  environment: Readonly<Record<string, string>> = {},
  overrides: Overrides = {},
): Promise<WatchedService> {
  const { config, problems } = readConfig({
    PORT: '0',
    AUTH_TOKENS: Object.entries(TOKENS)
      .map(([user, token]) => `${user}:${token}`)
      .join(),
    ...environment,
  });
  if (problems) throw new Error(problemsText(problems));
  const log: string[] = [];
  const write = (line: string) => {
    log.push(line);
    noteLine(line);
  };
  const service = await bootstrap(config, { log: pino({ level: 'trace' }, { write }), ...overrides });
  return { ...service, log };
}
