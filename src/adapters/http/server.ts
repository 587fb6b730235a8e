import { type Server, createServer } from 'node:http';
import { type AddressInfo, Server as NetServer } from 'node:net';
import { setTimeout as delay, setImmediate as turn } from 'node:timers/promises';
import type Koa from 'koa';
import { ServedResponse } from './connection';
import { Connections } from './connections';
import { HTTP_DEFAULTS } from './defaults';
import type { HttpServerOptions } from './options';

export interface HttpServer {
  readonly host: string;
  readonly port: number;
  /** Open ones, idle or not. */
  readonly connections: () => number;
  /** Requests that wait for their turn of the event loop. */
  readonly waitingRequests: () => number;
  /** Drains, and ends. True where nothing had to be cut. */
  close(times: DrainTimes): Promise<boolean>;
}

export interface DrainTimes {
  /** For how long new connections are still taken. At most half of `timeoutMs` is. */
  readonly noticeMs: number;
  /** Connections that are open then are closed. */
  readonly timeoutMs: number;
}

const HEADERS_TIMEOUT_MS = 10_000;
/** Above the 60 s for which common load balancers keep idle connections: closing first is theirs. */
const KEEP_ALIVE_TIMEOUT_MS = 65_000;
/** Within this, requests that had arrived before are read. */
const SETTLE_MS = 100;
/** How many connections the system keeps until they are accepted: Node's own default. */
const BACKLOG = 511;

/**
 * Serves an app: the one of `createApp`, or one that it is mounted in. Rejects with the system's error (EADDRINUSE,
 * EACCES …) where it cannot listen.
 */
export async function listen(app: Koa, options: HttpServerOptions = {}): Promise<HttpServer> {
  const { host = HTTP_DEFAULTS.host, port = 0, report = () => {} } = options;
  const { maxConnections = HTTP_DEFAULTS.maxConnections } = options;
  const { requestTimeoutMs = HTTP_DEFAULTS.requestTimeoutMs } = options;
  const server = createServer({
    ServerResponse: ServedResponse,
    // Checked by the app, which answers with a body.
    requireHostHeader: false,
    connectionsCheckingInterval: 1000,
    headersTimeout: Math.min(HEADERS_TIMEOUT_MS, requestTimeoutMs),
    requestTimeout: requestTimeoutMs,
    keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS,
    maxHeaderSize: 16 * 1024,
  });
  server.maxConnections = maxConnections;
  // Node would drop the fields beyond its limit silently; the app counts and refuses.
  server.maxHeadersCount = 0;
  // Node's own switch, which its types leave out: a client that has sent all it will send still gets its answers.
  Object.assign(server, { httpAllowHalfOpen: true });
  const connections = new Connections(server, app.callback(), requestTimeoutMs, report);

  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, BACKLOG, () => {
      server.off('error', reject);
      resolve();
    });
  });

  return {
    host,
    port: (server.address() as AddressInfo).port,
    connections: () => connections.open,
    waitingRequests: () => connections.waiting,
    close: (times) => drain(server, connections, times),
  };
}

/**
 * First readiness fails and every answer closes its connection, while new connections are still served; then no new
 * ones are accepted; then each connection ends as soon as no answer is owed on it.
 */
async function drain(server: Server, connections: Connections, times: DrainTimes): Promise<boolean> {
  let cut = false;
  const deadline = setTimeout(() => {
    cut = connections.cut();
  }, times.timeoutMs);
  connections.closeBehindAnswers();
  await delay(Math.min(times.noticeMs, times.timeoutMs / 2));
  await drainAcceptQueue(server);

  // http's own close() would at once cut connections on which the next request has arrived but was not read
  // yet, and such as are still being written to.
  const closed = new Promise<void>((resolve) => void NetServer.prototype.close.call(server, () => resolve()));
  await Promise.race([closed, delay(SETTLE_MS)]);
  connections.endIdle();
  await closed;
  clearTimeout(deadline);
  server.close();
  return !cut;
}

/** Closing the listener resets all connections that the system has taken and Node has not. It takes one a turn. */
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
