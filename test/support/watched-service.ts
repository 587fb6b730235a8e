import { pino } from 'pino';
import { type Overrides, type Service, bootstrap } from '../../src/service/bootstrap';
import { readConfig } from '../../src/service/config';
import { problemsText } from '../../src/service/start-text';
import { noteLine } from './suite-log';

/** The tokens by user. */
export const TOKENS = { alice: 'alice-token.0123456789', bob: 'bob-token_0123456789' } as const;

/** The whole service in this process, with the lines of its log. */
export interface WatchedService extends Service {
  readonly log: readonly string[];
}

/**
 * Starts the service like `main`, on a free port, in memory and for the users of {@link TOKENS}; `environment`
 * overrides that. The default log level is `trace`.
 */
export async function startWatched(
  environment: Readonly<Record<string, string>> = {},
  overrides: Overrides = {},
): Promise<WatchedService> {
  const { config, problems } = readConfig({
    PORT: '0',
    LOG_LEVEL: 'trace',
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
  const service = await bootstrap(config, {
    log: pino({ level: config.LOG_LEVEL }, { write }),
    ...overrides,
  });
  return { ...service, log };
}
