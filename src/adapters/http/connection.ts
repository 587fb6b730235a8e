import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { User } from '../../application';
import { failureOf, send } from './answer';
import type { HttpProblem } from './problems';
import type { RequestScheduler, Startable } from './request-scheduler';

/** How many requests are served. Clients then come again, and so learn of new instances. */
const MAX_SERVED = 10_000;
/**
 * How many requests may stand in line, some 1.5 KB each, on one connection and on all together. Who brings more is cut
 * off. (Not kept waiting: Node resumes a paused socket behind every request that it has read.)
 */
const MAX_IN_LINE_EACH = 1000;
const MAX_IN_LINE = 20_000;
/** For how long a connection that got its last answer is read and dropped, so that a sender gets to see it. */
const LINGER_MS = 1000;

export type Serve = (request: IncomingMessage, response: ServerResponse, client: Client) => void;

/** What serving a request needs of its connection. */
export interface Client {
  /** The user of its latest request; `undefined` where that had none. The service of a request sets it. */
  user: User | undefined;
  /** Whether the connection ends behind the answer under way. Called once the answer is decided. */
  isLast(): boolean;
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

  /**
   * @param answerRaw answers where there is no request to answer.
   * @param inLine what stands in line on all connections.
   */
  constructor(
    private readonly socket: Socket,
    private readonly serve: Serve,
    private readonly answerRaw: (refusal: HttpProblem) => void,
    private readonly draining: () => boolean,
    private readonly inLine: Set<ServerResponse>,
    private readonly scheduler: RequestScheduler,
  ) {
    // By this method Node ends a connection behind its last answer: at once, and where the client is
    // still sending, the reset that it then gets can overtake the answer.
    socket.destroySoon = () => this.#endGently();
    // Node takes its own listener away when it hands a CONNECT over.
    socket.on('error', () => socket.destroy());
    socket.once('close', () => {
      scheduler.cancel(this);
      this.#owed.forEach((response) => inLine.delete(response));
    });
  }

  isLast(): boolean {
    return (
      this.#served >= MAX_SERVED ||
      (this.draining() && this.#owed.length <= 1) ||
      // Node's parser drops what came in one packet with a request for an upgrade: no answer may be taken for one to that.
      this.#owed[0]?.req.headers.upgrade !== undefined
    );
  }

  take(response: ServerResponse): void {
    this.#latest = response.req;
    // Its last answer is on its way already: this one would have none.
    if (!this.socket.writable) return;
    const inLine = this.#owed.length;
    if (inLine > MAX_IN_LINE_EACH || (inLine > 0 && this.inLine.size >= MAX_IN_LINE)) {
      this.socket.destroy();
      return;
    }
    response.on('close', () => this.#answered());
    this.#owed.push(response);
    if (inLine === 0) this.#schedule();
    else this.inLine.add(response);
  }

  /** Called by the scheduler. */
  start(): void {
    const response = this.#owed[0]!;
    this.#served++;
    this.serve(response.req, response, this);
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
      if (!inBody) this.answerRaw(refusal);
      this.#endGently();
    } else if (inBody && underWay.req === this.#latest && !underWay.headersSent) {
      // Started in any case, so that it is logged and counted as other requests are.
      if (this.scheduler.cancel(this)) this.start();
      send(underWay, failureOf(refusal), true);
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
      this.inLine.delete(next);
      this.#schedule();
    }
  }

  /** Has the scheduler start the first request that an answer is owed to. */
  #schedule(): void {
    this.lane = this.user ?? (this.#served === 0 ? FIRST_REQUESTS : WITHOUT_USER);
    this.scheduler.schedule(this);
  }

  #endGently(): void {
    this.socket.end();
    this.socket.resume();
    setTimeout(() => this.socket.destroy(), LINGER_MS).unref();
  }
}
