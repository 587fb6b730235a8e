import { type IncomingMessage, type OutgoingHttpHeaders, STATUS_CODES, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { User } from '../../application';
import type { Headers, HttpProblem } from './problems';
import type { RequestScheduler, Startable } from './request-scheduler';
import { requestIdOf } from './request';

/** How many requests are served. Clients then come again, and so learn of new instances. */
const MAX_SERVED = 10_000;
/**
 * Queue limits for requests, some 1.5 KB each, per connection and in total. Beyond them the connection is closed.
 * (Pausing the socket has no effect: Node resumes it after each request that it has read.)
 */
const MAX_QUEUED_EACH = 1000;
const MAX_QUEUED = 20_000;
/** For how long a connection that got its last answer is read and dropped, so that a sender gets to see it. */
const LINGER_MS = 1000;

export type Handle = (request: IncomingMessage, response: ServerResponse) => Promise<void>;

/** A connection that `listen` has accepted, as the app sees it. */
export interface Client {
  /** The user of its latest request; `undefined` where that had none. Set by the app. */
  user: User | undefined;
  /** Whether the server is ending. */
  readonly draining: boolean;
  /** Tells a client that waits for it that the body is going to be read (`Expect: 100-continue`). */
  expectBody(response: ServerResponse): void;
}

/** The connection of `response`; `undefined` where another server than `listen` has accepted it. */
export function clientOf(response: ServerResponse): Client | undefined {
  return isServed(response) ? response.client : undefined;
}

function isServed(response: ServerResponse): response is ServedResponse {
  return response instanceof ServedResponse;
}

/**
 * A response on a {@link Connection}, sent by any middleware: it says `Connection: close` where it is the last one, and its
 * client is disconnected where it stops reading.
 */
export class ServedResponse<
  Request extends IncomingMessage = IncomingMessage,
> extends ServerResponse<Request> {
  client: Connection | undefined;

  override writeHead(status: number, reason?: unknown, fields?: unknown): this {
    if (this.client?.isLast() === true) this.setHeader('Connection', 'close');
    return super.writeHead(status, reason as string, fields as OutgoingHttpHeaders);
  }

  override end(chunk?: unknown, encoding?: unknown, callback?: () => void): this {
    super.end(chunk, encoding as BufferEncoding, callback);
    // Most clients have taken all of it by now.
    if (this.client && !this.writableFinished && !this.destroyed) this.setTimeout(this.client.readTimeoutMs);
    return this;
  }
}

/** What a connection needs of its server. */
export interface ConnectionServer {
  readonly scheduler: RequestScheduler;
  /** The responses that wait behind others, on all connections. */
  readonly queued: Set<ServerResponse>;
  readonly draining: boolean;
  /** For how long a client may stop reading its answer. */
  readonly readTimeoutMs: number;
  readonly handle: Handle;
  /** Answers where there is no request. */
  readonly answerRaw: (socket: Socket, refusal: HttpProblem) => void;
}

/** The lanes of connections that speak for no user (yet). */
const FIRST_REQUESTS = Symbol('first requests');
const WITHOUT_USER = Symbol('without user');

/**
 * One client's connection. Its requests are served one after the other: so no
 * request is carried out behind an answer that closes the connection, whose
 * own answer would then be lost, and however many a client sends at once, only
 * one at a time costs memory and the event store's time.
 */
export class Connection implements Client, Startable {
  user: User | undefined;
  lane: Startable['lane'] = FIRST_REQUESTS;
  /** The answers that are owed, in the order of their requests. The first one is under way. */
  readonly #owed: ServerResponse[] = [];
  #latest: IncomingMessage | undefined;
  #served = 0;
  #ending = false;

  constructor(
    private readonly socket: Socket,
    private readonly server: ConnectionServer,
  ) {
    // By this method Node ends a connection behind its last answer: at once, and where the client is
    // still sending, the reset that it then gets can overtake the answer.
    socket.destroySoon = () => this.#endGently();
    // Node takes its own listener away when it hands a CONNECT over.
    socket.on('error', () => socket.destroy());
    socket.once('close', () => {
      server.scheduler.cancel(this);
      this.#owed.forEach((response) => server.queued.delete(response));
    });
  }

  get draining(): boolean {
    return this.server.draining;
  }

  /** For how long the client may stop reading its answer. */
  get readTimeoutMs(): number {
    return this.server.readTimeoutMs;
  }

  expectBody(response: ServerResponse): void {
    const { headers, httpVersionMinor } = response.req;
    // HTTP/1.0 does not know of 100 (RFC 9110, 10.1.1).
    if (headers.expect !== undefined && httpVersionMinor === 1) response.writeContinue();
  }

  /** Whether the connection ends behind the answer under way. Called when the answer is decided. */
  isLast(): boolean {
    return (
      this.#served >= MAX_SERVED ||
      (this.draining && this.#owed.length <= 1) ||
      // Node's parser drops what came in one packet with a request for an upgrade: no answer may be taken for one to that.
      this.#owed[0]?.req.headers.upgrade !== undefined
    );
  }

  take(response: ServerResponse): void {
    if (isServed(response)) response.client = this;
    this.#latest = response.req;
    // Its last answer is on its way already: this one would have none.
    if (!this.socket.writable) return;
    const queued = this.#owed.length;
    if (queued > MAX_QUEUED_EACH || (queued > 0 && this.server.queued.size >= MAX_QUEUED)) {
      this.socket.destroy();
      return;
    }
    response.on('close', () => this.#answered());
    this.#owed.push(response);
    if (queued === 0) this.#schedule();
    else this.server.queued.add(response);
  }

  /** Called by the scheduler. */
  start(): void {
    const response = this.#owed[0]!;
    this.#served++;
    this.user = undefined;
    void this.server.handle(response.req, response);
  }

  /**
   * What came is no request, or one that goes wrong on its way. The answer to
   * that must not be taken for the answer to an earlier request: while one of
   * those is owed, the connection is cut instead.
   */
  refuse(refusal: HttpProblem): void {
    // Its last answer is on its way already.
    if (!this.socket.writable) return;
    const [underWay] = this.#owed;
    const inBody = this.#latest?.complete === false;
    if (underWay === undefined) {
      // A body that goes wrong behind its answer gets no second one.
      if (!inBody) this.server.answerRaw(this.socket, refusal);
      this.#endGently();
    } else if (inBody && underWay.req === this.#latest && !underWay.headersSent) {
      // Started in any case, so that it is logged and counted as other requests are.
      if (this.server.scheduler.cancel(this)) this.start();
      answer(underWay, refusal);
    } else {
      this.socket.destroy();
    }
  }

  /** From now on the connection ends as soon as nothing is owed. */
  endWhenIdle(): void {
    this.#ending = true;
    if (this.#owed.length === 0) this.#endGently();
  }

  /** True where an answer was owed. */
  cut(): boolean {
    this.socket.destroy();
    return this.#owed.length > 0;
  }

  #answered(): void {
    this.#owed.shift();
    const [next] = this.#owed;
    if (next === undefined) {
      if (this.#ending) this.#endGently();
    } else if (this.socket.writable) {
      // How long the last answer could be read has nothing to do with how long this one may take.
      this.socket.setTimeout(0);
      this.server.queued.delete(next);
      this.#schedule();
    }
  }

  /** Has the scheduler start the first request that an answer is owed to. */
  #schedule(): void {
    this.lane = this.user ?? (this.#served === 0 ? FIRST_REQUESTS : WITHOUT_USER);
    this.server.scheduler.schedule(this);
  }

  #endGently(): void {
    this.socket.end();
    this.socket.resume();
    setTimeout(() => this.socket.destroy(), LINGER_MS).unref();
  }
}

/** Answers a request past the app, which may have begun to serve it. */
function answer(response: ServerResponse, refusal: HttpProblem): void {
  const { 'X-Request-Id': requestId, ...fields } = fieldsOf(refusal, requestIdOf(response.req));
  // Of what the app has set only the id stays: the log has it.
  for (const name of response.getHeaderNames()) if (name !== 'x-request-id') response.removeHeader(name);
  if (!response.hasHeader('X-Request-Id')) response.setHeader('X-Request-Id', requestId!);
  const { status } = refusal.problem;
  response.writeHead(status, STATUS_CODES[status], fields).end(refusal.body);
}

/** The header of an answer that is sent past the app. Its connection ends behind it. */
export function fieldsOf({ headers, body }: HttpProblem, requestId: string): Headers {
  return {
    'X-Request-Id': requestId,
    'X-Content-Type-Options': 'nosniff',
    'Cache-Control': 'no-store',
    ...headers,
    'Content-Type': 'application/json',
    'Content-Length': String(Buffer.byteLength(body)),
    Connection: 'close',
  };
}
