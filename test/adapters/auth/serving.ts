/** The whole service, configured as an operator would, and a caller. */
import { pino } from 'pino';
import { type Service, bootstrap } from '../../../src/bootstrap';
import { readConfig } from '../../../src/config';
import { problemsText } from '../../../src/start-text';
import { noteLine } from '../../support/suite-log';
import { documentedFetch } from '../../support/documented-fetch';

export interface Serving extends Service {
  /** The log so far, as text. */
  log(): string;
  /** @param authorization the whole header field, or none. */
  ask(authorization: string | undefined, method?: string, plant?: object): Promise<Answer>;
}

export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: unknown;
}

export async function serve(environment: Readonly<Record<string, string>>): Promise<Serving> {
  const { config, problems } = readConfig({ PORT: '0', ...environment });
  if (problems) throw new Error(problemsText(problems));
  let log = '';
  const write = (line: string) => {
    log += line;
    noteLine(line);
  };
  const service = await bootstrap(config, {
    log: pino({ level: 'trace' }, { write }),
  });
  return {
    ...service,
    log: () => log,
    async ask(authorization, method = 'GET', plant) {
      const { status, headers, text } = await documentedFetch(`${service.url}/plants`, {
        method,
        headers: {
          'content-type': 'application/json',
          ...(authorization === undefined ? {} : { authorization }),
        },
        ...(plant === undefined ? {} : { body: JSON.stringify(plant) }),
      });
      return { status, headers: Object.fromEntries(headers), body: JSON.parse(text) as unknown };
    },
  };
}
