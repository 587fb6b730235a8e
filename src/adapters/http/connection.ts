import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { failureOf, send } from './answer';
import type { HttpProblem } from './problems';

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

/** @param isLast asked once the answer is decided: whether the connection is to end behind it. */
export type Serve = (request: IncomingMessage, response: ServerResponse, isLast: () => boolean) => void;

/**
 * One client's connection. Its requests are served one after the other: so no
 * request is carried out behind an answer that closes the connection, whose
 * own answer would then be lost, and however many a client sends at once, only
 * one at a time costs memory and the event store's time.
 */
export class Connection {
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
  ) {
    // By this method Node ends a connection behind its last answer: at once, and where the client is
    // still sending, the reset that it then gets can overtake the answer.
    socket.destroySoon = () => this.#endGently();
    // Node takes its own listener away when it hands a CONNECT over.
    socket.on('error', () => socket.destroy());
    socket.once('close', () => this.#owed.forEach((response) => inLine.delete(response)));
  }

  /** Whether the connection is to end behind the answer that is under way. */
  readonly #isLast = (): boolean =>
    this.#served >= MAX_SERVED ||
    (this.draining() && this.#owed.length <= 1) ||
    // Node's parser drops what came in one packet with a request for an upgrade: no answer may be taken for one to that.
    this.#owed[0]?.req.headers.upgrade !== undefined;

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
    if (inLine === 0) this.#serve(response);
    else this.inLine.add(response);
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
      this.#serve(next);
    }
  }

  #serve(response: ServerResponse): void {
    this.#served++;
    this.serve(response.req, response, this.#isLast);
  }

  #endGently(): void {
    this.socket.end();
    this.socket.resume();
    setTimeout(() => this.socket.destroy(), LINGER_MS).unref();
  }
}
