import { type Server, createServer } from 'node:http';
import { type AddressInfo, Server as NetServer } from 'node:net';
import { setTimeout as delay, setImmediate as turn } from 'node:timers/promises';
import { type AppOptions, createApp } from './app';
import { Connections } from './connections';
import { ListAnswers } from './list-answers';
import { NamedRequest } from './request';

export interface HttpServerOptions extends Omit<AppOptions, 'draining' | 'lists'> {
  readonly host: string;
  /** 0 picks a free one. */
  readonly port: number;
  /** More are refused. */
  readonly maxConnections: number;
}

export interface HttpServer {
  readonly host: string;
  readonly port: number;
  /** Open ones, idle or not. */
  readonly connections: () => number;
  /** Requests that wait for their turn of the event loop. */
  readonly waitingRequests: () => number;
  /** Long texts of lists that are unfinished. */
  readonly waitingTexts: () => number;
  /** Bytes of list texts held: kept answers, segments and unfinished texts. */
  readonly textBytes: () => number;
  /** Drains, and ends. True where nothing had to be cut. */
  close(times: DrainTimes): Promise<boolean>;
}

export interface DrainTimes {
  /** For how long new connections are still taken. At most half of `timeoutMs` is. */
  readonly noticeMs: number;
  /** Whatever is left then is cut. */
  readonly timeoutMs: number;
}

const HEADERS_TIMEOUT_MS = 10_000;
/** Above the 60 s for which common load balancers keep idle connections: closing first is theirs. */
const KEEP_ALIVE_TIMEOUT_MS = 65_000;
/** Within this, whatever had arrived before is read. */
const SETTLE_MS = 100;
/** How many connections the system keeps until they are accepted: Node's own default. */
const BACKLOG = 511;

/** Serves the HTTP interface. Rejects with the system's error (EADDRINUSE, EACCES …) where it cannot listen. */
export async function listen(options: HttpServerOptions): Promise<HttpServer> {
  const connections = new Connections(options.report);
  const lists = new ListAnswers();
  const serve = createApp({ ...options, lists, draining: () => connections.draining });
  const server = createServer({
    IncomingMessage: NamedRequest,
    // Checked by the app, which answers with a body.
    requireHostHeader: false,
    connectionsCheckingInterval: 1000,
    headersTimeout: Math.min(HEADERS_TIMEOUT_MS, options.requestTimeoutMs),
    requestTimeout: options.requestTimeoutMs,
    keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS,
    maxHeaderSize: 16 * 1024,
  });
  server.maxConnections = options.maxConnections;
  // Node would drop the fields beyond its limit silently; the app counts and refuses.
  server.maxHeadersCount = 0;
  // Node's own switch, which its types leave out: a client that has sent all it will send still gets its answers.
  Object.assign(server, { httpAllowHalfOpen: true });
  connections.of(server, (request, response, client) => void serve(request, response, client));

  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(options.port, options.host, BACKLOG, () => {
      server.off('error', reject);
      resolve();
    });
  });

  return {
    host: options.host,
    port: (server.address() as AddressInfo).port,
    connections: () => connections.open,
    waitingRequests: () => connections.waiting,
    waitingTexts: () => lists.waiting,
    textBytes: () => lists.bytes,
    close: (times) => drain(server, connections, times),
  };
}

/**
 * First readiness fails and every answer closes its connection, while whoever
 * has not heard of it yet is still served; then nobody new is taken; then each
 * connection ends as soon as no answer is owed on it.
 */
async function drain(server: Server, connections: Connections, times: DrainTimes): Promise<boolean> {
  let cut = false;
  const deadline = setTimeout(() => {
    cut = connections.cut();
  }, times.timeoutMs);
  connections.closeBehindAnswers();
  await delay(Math.min(times.noticeMs, times.timeoutMs / 2));
  await acceptWhoKnocked(server);

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
async function acceptWhoKnocked(server: Server): Promise<void> {
  let accepted = true;
  const note = () => (accepted = true);
  server.on('connection', note);
  for (let turns = 0; accepted && turns < BACKLOG; turns++) {
    accepted = false;
    await turn();
  }
  server.off('connection', note);
}
