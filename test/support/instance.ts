import { pino } from 'pino';
import { type Service, bootstrap } from '../../src/bootstrap';
import { readConfig } from '../../src/config';
import { problemsText } from '../../src/start-text';
import { noteLine } from './suite-log';
import { tokenOf } from './token';

export { tokenOf } from './token';

/** The whole service within this process, started as `main` does, with its log to look into. */
export interface Instance extends Service {
  readonly log: readonly LogLine[];
}

export interface LogLine {
  readonly level: number;
  readonly msg: string;
}

export const USERS = ['alice', 'bob', 'carol'] as const;

/** On Redis, for {@link USERS}, on a free port; `environment` adds to that. */
export async function startInstance(environment: Readonly<Record<string, string>>): Promise<Instance> {
  const { config, problems } = readConfig({
    PORT: '0',
    EVENT_STORE: 'redis',
    AUTH_TOKENS: USERS.map((user) => `${user}:${tokenOf(user)}`).join(),
    ...environment,
  });
  if (problems) throw new Error(problemsText(problems));
  const log: LogLine[] = [];
  const write = (line: string) => {
    log.push(JSON.parse(line) as LogLine);
    noteLine(line);
  };
  return { ...(await bootstrap(config, { log: pino({ level: 'info' }, { write }) })), log };
}

/** Starts instances that live as long as the test, all alike. Called in a suite's body. */
export function instancesPerTest() {
  const running: Instance[] = [];
  afterEach(async () => {
    await Promise.all(running.splice(0).map((instance) => instance.stop()));
  });
  return async (count: number, environment: Readonly<Record<string, string>>): Promise<Instance[]> => {
    const started = await Promise.all(Array.from({ length: count }, () => startInstance(environment)));
    running.push(...started);
    return started;
  };
}
