import { pino } from 'pino';
import { type Overrides, type Service, bootstrap } from '../../src/bootstrap';
import { readConfig } from '../../src/config';
import { problemsText } from '../../src/start-text';

/** User → token. */
export const TOKENS = { alice: 'alice-token.0123456789', bob: 'bob-token_0123456789' } as const;

/** The whole service within this process, with its log to look into: every line of it, down to `trace`. */
export interface WatchedService extends Service {
  readonly log: readonly string[];
}

/**
 * Starts it as `main` does, on a free port. Its `stop` also holds the log to
 * what every log must be, so that each test of the edge is one of the log too.
 */
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
  const write = (line: string) => void log.push(line);
  const service = await bootstrap(config, { log: pino({ level: 'trace' }, { write }), ...overrides });
  return {
    ...service,
    log,
    async stop(noticeMs) {
      const clean = await service.stop(noticeMs);
      log.forEach(requireClean);
      return clean;
    },
  };
}

/** One JSON object on one line, in printable characters, and no token. */
export function requireClean(line: string): void {
  if (!/^\{[^\p{Cc}]*\}\n$/u.test(line)) throw new Error(`not a clean log line: ${JSON.stringify(line)}`);
  JSON.parse(line);
  for (const token of Object.values(TOKENS)) {
    if (line.includes(token)) throw new Error(`a token in the log: ${line}`);
  }
}
