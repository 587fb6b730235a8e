import { type Server, createServer } from 'node:http';
import { type AddressInfo, Server as NetServer } from 'node:net';
import { setTimeout as delay, setImmediate as turn } from 'node:timers/promises';
import type Koa from 'koa';
import { Connections } from './connections';
import { HTTP_DEFAULTS, type HttpServerOptions } from '../options';
import { ServedResponse } from './served-response';

export interface HttpServer {
  readonly host: string;
  readonly port: number;
  /** The number of open connections, idle or not. */
  readonly connections: () => number;
  /** The number of refused connections: beyond `maxConnections`, or with too many requests queued. */
  readonly refusedConnections: () => { readonly limit: number; readonly pipelining: number };
  /** The number of requests that wait for their turn of the event loop. */
  readonly waitingRequests: () => number;
  /** Drains and closes. True if no request was aborted. */
  close(times: DrainTimes): Promise<boolean>;
}

export interface DrainTimes {
  /** The time for which new connections are still accepted; at most half of `timeoutMs`. */
  readonly noticeMs: number;
  /** After this time, all remaining connections are closed. */
  readonly timeoutMs: number;
}

const HEADERS_TIMEOUT_MS = 10_000;
/** Above the 60 s after which common load balancers close idle connections, so that they close first. */
const KEEP_ALIVE_TIMEOUT_MS = 65_000;
/** Time in which requests that have arrived are read. */
const SETTLE_MS = 100;
/** Length of the accept queue: Node's default. */
const BACKLOG = 511;

/**
 * Serves an app: that of `createApp`, or one in which it is mounted. Rejects with the system's error (EADDRINUSE,
 * EACCES …) if it cannot listen.
 */
export async function listen(app: Koa, options: HttpServerOptions = {}): Promise<HttpServer> {
  const { host = HTTP_DEFAULTS.host, port = 0, report = () => {} } = options;
  const { maxConnections = HTTP_DEFAULTS.maxConnections } = options;
  const { requestTimeoutMs = HTTP_DEFAULTS.requestTimeoutMs } = options;
  const server = createServer({
    ServerResponse: ServedResponse,
    // The app checks it, and answers with a body.
    requireHostHeader: false,
    connectionsCheckingInterval: 1000,
    headersTimeout: Math.min(HEADERS_TIMEOUT_MS, requestTimeoutMs),
    requestTimeout: requestTimeoutMs,
    keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS,
    maxHeaderSize: 16 * 1024,
  });
  const closesOldest = options.whenFull === 'close-oldest';
  if (!closesOldest) server.maxConnections = maxConnections;
  // 0 is no limit: Node drops the fields beyond a limit silently. The app refuses a request with too many.
  server.maxHeadersCount = 0;
  // `httpAllowHalfOpen` is missing in Node's types. With it, a client that has ended its side still gets its responses.
  Object.assign(server, { httpAllowHalfOpen: true });
  const connections = new Connections(server, app.callback(), requestTimeoutMs, report);
  if (closesOldest) server.on('connection', () => connections.closeBeyond(maxConnections));

  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, BACKLOG, () => {
      server.off('error', reject);
      resolve();
    });
  });
  // Node reports connections that it cannot accept. Without a listener the process would end.
  server.on('error', (error) => app.emit('error', error));

  return {
    host,
    port: (server.address() as AddressInfo).port,
    connections: () => connections.open,
    refusedConnections: () => connections.refused,
    waitingRequests: () => connections.scheduler.waiting,
    close: (times) => drain(server, connections, times),
  };
}

/**
 * First readiness fails and every response closes its connection, while new connections are still accepted. Then the
 * listener closes. Then each connection closes as soon as it has no pending response.
 */
async function drain(server: Server, connections: Connections, times: DrainTimes): Promise<boolean> {
  let aborted = false;
  const deadline = setTimeout(() => {
    aborted = connections.abort();
  }, times.timeoutMs);
  connections.closeAfterResponses();
  await delay(Math.min(times.noticeMs, times.timeoutMs / 2));
  await drainAcceptQueue(server);

  // http's own close() would at once close connections with an unread request, or with a response that is
  // still being written.
  const closed = new Promise<void>((resolve) => void NetServer.prototype.close.call(server, () => resolve()));
  await Promise.race([closed, delay(SETTLE_MS)]);
  connections.endIdle();
  await closed;
  clearTimeout(deadline);
  server.close();
  return !aborted;
}

/** Accepts the queued connections, one per turn, because closing the listener would reset them. */
async function drainAcceptQueue(server: Server): Promise<void> {
  let accepted = true;
  const note = () => (accepted = true);
  server.on('connection', note);
  for (let turns = 0; accepted && turns < BACKLOG; turns++) {
    accepted = false;
    await turn();
  }
  server.off('connection', note);
}
