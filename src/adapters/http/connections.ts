import { randomUUID } from 'node:crypto';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Socket } from 'node:net';
import type { RequestReport } from './app';
import { failureOf, inBytes } from './answer';
import { Connection, type Serve } from './connection';
import { isSurplus, refusalOf, unknownMethod } from './parser-errors';
import type { HttpProblem } from './problems';
import { RequestScheduler } from './request-scheduler';

/**
 * A server's connections, and whatever Node would answer on them by itself,
 * without the contract's body: bytes that its parser refuses, requests that do
 * not arrive in time, CONNECT, expectations.
 */
export class Connections {
  readonly #open = new Map<Duplex, Connection>();
  readonly #scheduler = new RequestScheduler();
  #draining = false;

  constructor(private readonly report: (request: RequestReport) => void) {}

  /** How many there are, idle or not. */
  get open(): number {
    return this.#open.size;
  }

  /** How many requests wait for their turn of the event loop. */
  get waiting(): number {
    return this.#scheduler.waiting;
  }

  get draining(): boolean {
    return this.#draining;
  }

  /** Has all that arrives on `server` served by `serve`. */
  of(server: Server, serve: Serve): void {
    const inLine = new Set<ServerResponse>();
    const draining = () => this.#draining;
    server.on('connection', (socket) => {
      this.#scheduler.shortenTurn();
      const answerRaw = (refusal: HttpProblem) => this.#answerRaw(socket, refusal);
      this.#open.set(socket, new Connection(socket, serve, answerRaw, draining, inLine, this.#scheduler));
      socket.once('close', () => this.#open.delete(socket));
    });

    const take = (_: IncomingMessage, response: ServerResponse) =>
      this.#open.get(response.req.socket)?.take(response);
    server.on('request', take);
    // Instead of Node's 100 for every request: only a body that will be read is asked for.
    server.on('checkContinue', take);
    // Any other expectation is refused as a malformed request is; see requireWellFormed.
    server.on('checkExpectation', take);

    server.on('clientError', (error, socket) => {
      if (isSurplus(error)) return;
      const refusal = refusalOf(error);
      if (refusal) this.#open.get(socket)?.refuse(refusal);
      else socket.destroy();
    });
    server.on('connect', (_, socket) => this.#open.get(socket)?.refuse(unknownMethod()));
  }

  /** From now on every answer closes its connection. */
  closeBehindAnswers(): void {
    this.#draining = true;
  }

  /** From now on connections to which no answer is owed end. */
  endIdle(): void {
    for (const connection of this.#open.values()) connection.endWhenIdle();
  }

  /** Cuts whatever is left. True where an answer was owed. */
  cut(): boolean {
    return [...this.#open.values()].map((connection) => connection.cut()).includes(true);
  }

  #answerRaw(socket: Socket, refusal: HttpProblem): void {
    const requestId = randomUUID();
    socket.write(inBytes(requestId, failureOf(refusal)));
    this.report({ requestId, status: refusal.problem.status });
  }
}
