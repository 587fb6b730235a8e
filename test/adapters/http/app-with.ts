import { dirname } from 'node:path';
import type Koa from 'koa';
import * as http from '../../../src/adapters/http';
import { MemoryEventStore } from '../../../src/adapters/memory';
import { system } from '../../../src/adapters/system';
import { PlantStore, parseUser } from '../../../src/application';
import type { EventStore } from '../../../src/event-sourcing';
import { AUTH } from '../../support/requests';

const ALICE = parseUser('alice')!;
const swaggerUi = dirname(require.resolve('swagger-ui-dist/package.json'));

/** The app on a memory store, where every token speaks for one user, with its reports. */
export function appWith(
  options: Partial<http.AppOptions> = {},
  store: EventStore = new MemoryEventStore(),
) {
  const reports: http.RequestReport[] = [];
  const plants = new PlantStore({ ...system(), store });
  const authenticator = { authenticate: () => ALICE };
  const report = (each: http.RequestReport) => void reports.push(each);
  return Object.assign(http.createApp({ plants, authenticator, swaggerUi, report, ...options }), {
    reports,
  });
}

/** Serves applications for as long as the test. Called in a suite's body. Resolves with the URL. */
export function servedPerTest() {
  const servers: http.HttpServer[] = [];
  const end = (server: http.HttpServer) => server.close({ noticeMs: 0, timeoutMs: 1000 });
  afterEach(() => Promise.all(servers.splice(0).map(end)));
  return async (app: Koa, options?: http.HttpServerOptions): Promise<string> => {
    const server = await http.listen(app, options);
    servers.push(server);
    return `http://127.0.0.1:${server.port}`;
  };
}

type Sent = Omit<RequestInit, 'headers'> & { readonly headers?: Readonly<Record<string, string>> };

/** A request of the user to any application, and the response with its text. */
export async function ask(url: string, { headers, ...sent }: Sent = {}) {
  const known = {
    Authorization: AUTH.replace(/^.*?: |\r\n/g, ''),
    'Content-Type': 'application/json',
  };
  const answer = await fetch(url, { ...sent, headers: { ...known, ...headers } });
  const text = await answer.text();
  return { status: answer.status, headers: Object.fromEntries(answer.headers), text };
}
