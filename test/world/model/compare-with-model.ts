import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { AUDIENCE, ISSUER, SECRET, signed } from '../../adapters/auth/signing';
import { HttpClient, type HttpRequest, type HttpResponse } from '../../support/client';
import {
  type Model,
  type TestedService,
  type User,
  type Visitor,
  anyCommands,
  compareLists,
} from './commands';
import { PlantsOracle } from '../../support/plants-oracle';

/** With it, and without tokens, a service accepts any user, so that every run has new ones. */
export const ENVIRONMENT = {
  AUTH_JWT_SECRET: new TextDecoder().decode(SECRET),
  AUTH_JWT_ISSUER: ISSUER,
  AUTH_JWT_AUDIENCE: AUDIENCE,
};

/** The service under test. */
export interface ComparedService extends Pick<TestedService, 'restart' | 'forgets'> {
  /** Of all instances, before and after a restart. */
  readonly urls: readonly string[];
}

/** The kinds of responses that some dozens of runs meet. */
export const KINDS: readonly string[] = [
  ...['POST 200', 'POST 40002', 'POST 40003', 'DELETE 204', 'DELETE 40401', 'restart'],
  ...['GET 200', 'GET 200 with a link', 'GET 304', 'HEAD 200', 'HEAD 200 with a link', 'HEAD 304'],
];

/**
 * Plays random commands to the service and to the model of its specification, `runs` times. Resolves with the kinds of
 * responses. Rejects with the shortest commands that differ.
 */
export async function compareWithModel(
  subject: ComparedService,
  seed: number,
  runs: number,
): Promise<Set<string>> {
  const met = new Set<string>();
  await fc.assert(
    fc.asyncProperty(anyCommands, async (commands) => {
      const model: Model = { ada: PlantsOracle.NONE, bob: PlantsOracle.NONE };
      const service = await serviceOf(subject, met);
      await fc.asyncModelRun(() => ({ model, real: service }), commands);
      await compareLists(model, service);
    }),
    { seed, numRuns: runs },
  );
  return met;
}

/** @param met gets the kinds of responses. */
async function serviceOf(
  { urls, restart, forgets }: ComparedService,
  met: Set<string>,
): Promise<TestedService> {
  class NotingClient extends HttpClient {
    override async send(request: HttpRequest): Promise<HttpResponse> {
      const response = await super.send(request);
      const link = response.headers.link === undefined ? '' : ' with a link';
      met.add(`${request.method ?? 'GET'} ${response.error ?? response.status}${link}`);
      return response;
    }
  }
  const run = randomUUID();
  const visitor = async (user: User): Promise<Visitor> => {
    const token = await signed(SECRET, { sub: `${user} ${run}`, exp: Date.now() / 1000 + 3600 });
    return { client: new NotingClient(urls, user, token), tags: new Map(), cursor: undefined };
  };
  return {
    ada: await visitor('ada'),
    bob: await visitor('bob'),
    forgets,
    restart() {
      met.add('restart');
      return restart();
    },
  };
}
