import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { User } from '../../../application';
import type { HttpProblem } from '../app/problems';
import { answerRefused, refuseOtherProtocol } from './refusals';
import type { RequestScheduler, Startable } from './request-scheduler';
import { type ServingConnection, isServed } from './served-response';

/** Requests per connection. Clients then reconnect, and so discover new instances. */
const MAX_SERVED = 10_000;
/**
 * Queue limits for requests, some 1.5 KB each, per connection and in total. Beyond them the connection is closed.
 * (Pausing the socket has no effect: Node resumes it after each request that it has read.)
 */
const MAX_QUEUED_EACH = 1000;
const MAX_QUEUED = 20_000;
/** Queue limit of the bodies of requests, in total. */
const MAX_QUEUED_BYTES = 32 * 2 ** 20;
/** In bytes. A longer response without a user is the last one of its connection. */
const LONG_WITHOUT_USER = 64 * 1024;
/** Time for which input is dropped after the last response, so that a client that is still sending can read it. */
const LINGER_MS = 1000;

export type Handle = (request: IncomingMessage, response: ServerResponse) => Promise<void>;

/** The server, as seen by a connection. */
export interface ConnectionServer {
  readonly scheduler: RequestScheduler;
  /** The queued responses of all connections: each waits for an earlier one. */
  readonly queued: {
    readonly size: number;
    /** What the bodies of their requests may take. */
    readonly bytes: number;
    add(response: ServerResponse): void;
    delete(response: ServerResponse): void;
  };
  /** The number of connections that were refused, by reason. */
  readonly refused: { pipelining: number };
  readonly draining: boolean;
  /** The time for which a client may stop reading its response. */
  readonly readTimeoutMs: number;
  readonly handle: Handle;
  /** Responds if there is no request. */
  readonly answerRaw: (socket: Socket, refusal: HttpProblem) => void;
}

/** The lanes of connections without a known user. */
const FIRST_REQUESTS = Symbol('first requests');
const WITHOUT_USER = Symbol('without user');

/**
 * One client's connection. It serves its requests one after the other. So no
 * request is executed after a response that closes the connection, which would
 * lose its own response. And only one request at a time takes memory and store
 * calls, however many a client sends at once.
 */
export class Connection implements ServingConnection, Startable {
  user: User | undefined;
  lane: Startable['lane'] = FIRST_REQUESTS;
  /** The pending responses, in the order of their requests. The first one is in progress. */
  readonly #owed: ServerResponse[] = [];
  #latest: IncomingMessage | undefined;
  #served = 0;
  #ending = false;
  /** Whether the connection is reset if the client has not read its last response within the read timeout. */
  #resets = false;

  constructor(
    private readonly socket: Socket,
    private readonly server: ConnectionServer,
  ) {
    // Node closes a connection with this method after its last response. If the client is still
    // sending, the reset that follows can overtake the response.
    socket.destroySoon = () => this.#closeGracefully();
    // Node removes its own listener when it emits `connect`.
    socket.on('error', () => socket.destroy());
    socket.once('close', () => {
      server.scheduler.cancel(this);
      this.#owed.forEach((response) => server.queued.delete(response));
    });
  }

  get draining(): boolean {
    return this.server.draining;
  }

  /** The time for which the client may stop reading its response. */
  get readTimeoutMs(): number {
    return this.server.readTimeoutMs;
  }

  /** Whether no response is pending. */
  get idle(): boolean {
    return this.#owed.length === 0;
  }

  expectBody(response: ServerResponse): void {
    const { headers, httpVersionMinor } = response.req;
    // HTTP/1.0 has no status 100 (RFC 9110, 10.1.1).
    if (headers.expect !== undefined && httpVersionMinor === 1) response.writeContinue();
  }

  /** Whether the connection closes after `response`, the current one. Called when its header is written. */
  isLast(response: ServerResponse): boolean {
    // The system takes it whole, and then Node cannot know whether the client reads it.
    this.#resets =
      this.user === undefined && Number(response.getHeader('Content-Length')) > LONG_WITHOUT_USER;
    return (
      this.#resets ||
      this.#served >= MAX_SERVED ||
      (this.draining && this.#owed.length <= 1) ||
      // Node's parser drops bytes in the same packet as an upgrade, so a later response could be assigned to a dropped request.
      this.#owed[0]?.req.headers.upgrade !== undefined
    );
  }

  take(response: ServerResponse): void {
    if (isServed(response)) response.client = this;
    if (this.#latest === undefined || response.req.httpVersionMinor === 0) refuseOtherProtocol(response.req);
    this.#latest = response.req;
    // The last response has been sent, so this request gets none.
    if (!this.socket.writable) return;
    const queued = this.#owed.length;
    if (queued > MAX_QUEUED_EACH || (queued > 0 && this.#queueIsFull)) {
      this.server.refused.pipelining++;
      this.socket.destroy();
      return;
    }
    response.on('close', () => this.#answered(response));
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
   * Refuses bytes that are not a request, or a request whose body is malformed. The
   * response must not be read as that of an earlier request: while one of those is
   * pending, the connection is closed instead.
   */
  refuse(refusal: HttpProblem): void {
    // The last response has been sent.
    if (!this.socket.writable) return;
    const [underWay] = this.#owed;
    const inBody = this.#latest?.complete === false;
    if (underWay === undefined) {
      // A body that turns out malformed after its response gets no second one.
      if (!inBody) this.server.answerRaw(this.socket, refusal);
      this.#closeGracefully();
    } else if (inBody && underWay.req === this.#latest && !underWay.headersSent) {
      // Started in any case, so that it is logged and counted like other requests.
      if (this.server.scheduler.cancel(this)) this.start();
      answerRefused(underWay, refusal);
    } else {
      this.socket.destroy();
    }
  }

  /** From now on, the connection closes as soon as no response is pending. */
  endWhenIdle(): void {
    this.#ending = true;
    if (this.#owed.length === 0) this.#closeGracefully();
  }

  /** Closes the connection at once. True if a response was pending. */
  abort(): boolean {
    this.socket.destroy();
    return this.#owed.length > 0;
  }

  get #queueIsFull(): boolean {
    const { size, bytes } = this.server.queued;
    return size >= MAX_QUEUED || bytes >= MAX_QUEUED_BYTES;
  }

  #answered(response: ServerResponse): void {
    if (isServed(response)) for (const then of response.closing) then();
    this.#owed.shift();
    const [next] = this.#owed;
    if (next === undefined) {
      if (this.#ending) this.#closeGracefully();
    } else if (this.socket.writable) {
      // Ends the read timeout of the last response.
      this.socket.setTimeout(0);
      this.server.queued.delete(next);
      this.#schedule();
    }
  }

  /** Schedules the start of the first pending request. */
  #schedule(): void {
    this.lane = this.user ?? (this.#served === 0 ? FIRST_REQUESTS : WITHOUT_USER);
    this.server.scheduler.schedule(this);
  }

  #closeGracefully(): void {
    this.socket.end();
    this.socket.resume();
    if (this.#resets) setTimeout(() => this.socket.resetAndDestroy(), this.readTimeoutMs).unref();
    else setTimeout(() => this.socket.destroy(), LINGER_MS).unref();
  }
}
