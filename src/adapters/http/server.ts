import { type RequestListener, type Server, createServer } from 'node:http';
import { type AddressInfo, Server as NetServer } from 'node:net';
import { type AppOptions, createApp } from './app';
import { answerConnectionErrors } from './connection-errors';

export interface HttpServerOptions extends Omit<AppOptions, 'draining'> {
  readonly host: string;
  /** 0 picks a free one. */
  readonly port: number;
  /** Within how long a request must have arrived whole. */
  readonly requestTimeoutMs: number;
}

export interface HttpServer {
  readonly host: string;
  readonly port: number;
  /**
   * Drains: takes no new connection, answers every request that was accepted,
   * and closes each connection behind its answer. Whatever is left after
   * `timeoutMs` is cut. True where nothing had to be.
   */
  close(timeoutMs: number): Promise<boolean>;
}

const HEADERS_TIMEOUT_MS = 10_000;
/** Above the 60 s for which common load balancers keep idle connections: closing first is theirs. */
const KEEP_ALIVE_TIMEOUT_MS = 65_000;
const SWEEP_MS = 100;

/** Serves the HTTP interface. Rejects with the system's error (EADDRINUSE, EACCES …) where it cannot listen. */
export async function listen(options: HttpServerOptions): Promise<HttpServer> {
  let draining = false;
  const app = createApp({ ...options, draining: () => draining });
  const server = createServer({
    // Checked by the app, which answers with a body.
    requireHostHeader: false,
    connectionsCheckingInterval: 1000,
    headersTimeout: Math.min(HEADERS_TIMEOUT_MS, options.requestTimeoutMs),
    requestTimeout: options.requestTimeoutMs,
    keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS,
    maxHeaderSize: 16 * 1024,
  });
  // Node would drop the fields beyond its limit silently; the app counts and refuses.
  server.maxHeadersCount = 0;
  answerConnectionErrors(server);
  const handle = app.callback() as RequestListener;
  server.on('request', handle);
  // Instead of Node's 100 for every request: only a body that will be read is asked for.
  server.on('checkContinue', handle);
  // Koa's app refuses any other expectation; see requireWellFormed.
  server.on('checkExpectation', handle);

  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(options.port, options.host, () => {
      server.off('error', reject);
      resolve();
    });
  });

  return {
    host: options.host,
    port: (server.address() as AddressInfo).port,
    async close(timeoutMs) {
      draining = true;
      return drain(server, timeoutMs);
    },
  };
}

async function drain(server: Server, timeoutMs: number): Promise<boolean> {
  let cut = false;
  const deadline = setTimeout(() => {
    cut = true;
    server.closeAllConnections();
  }, timeoutMs);
  // http's own close() would at once cut idle connections, also those whose next
  // request has arrived but was not read yet. The sweep first lets it be read.
  const sweep = setInterval(() => server.closeIdleConnections(), SWEEP_MS);
  await new Promise<void>((resolve) => void NetServer.prototype.close.call(server, () => resolve()));
  clearInterval(sweep);
  clearTimeout(deadline);
  server.close();
  return !cut;
}
