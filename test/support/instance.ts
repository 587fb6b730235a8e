import type { Service } from '../../src/service/bootstrap';
import { tokenOf } from './token';
import { startWatched } from './watched-service';

export { tokenOf } from './token';

/** The whole service in this process, with the lines of its log. */
export interface Instance extends Service {
  readonly log: readonly LogLine[];
}

export interface LogLine {
  readonly level: number;
  readonly msg: string;
}

export const USERS = ['alice', 'bob', 'carol'] as const;

/** Starts the service on Redis, for {@link USERS}, on a free port; `environment` overrides that. */
export async function startInstance(environment: Readonly<Record<string, string>>): Promise<Instance> {
  const service = await startWatched({
    LOG_LEVEL: 'info',
    EVENT_STORE: 'redis',
    AUTH_TOKENS: USERS.map((user) => `${user}:${tokenOf(user)}`).join(),
    ...environment,
  });
  return {
    ...service,
    get log() {
      return service.log.map((line) => JSON.parse(line) as LogLine);
    },
  };
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
