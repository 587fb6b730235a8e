import { randomUUID } from 'node:crypto';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { methodNotAllowed } from '../app/koa';
import type { HttpProblem } from '../app/problems';
import type { RequestReport } from '../../../application';
import { Connection, type ConnectionServer, type Handle } from './connection';
import { answerRaw, isSurplus, refusalOf } from './refusals';
import { RequestScheduler } from './request-scheduler';

/**
 * The connections of a server. Replaces the responses that Node would send itself, without the contract's body: to
 * bytes that its parser refuses, requests that do not arrive in time, CONNECT, and expectations.
 */
export class Connections implements ConnectionServer {
  readonly scheduler = new RequestScheduler();
  readonly queued = new QueuedResponses();
  readonly refused = { limit: 0, pipelining: 0 };
  draining = false;
  readonly #open = new Map<Duplex, Connection>();
  #aborted = false;

  constructor(
    server: Server,
    readonly handle: Handle,
    readonly readTimeoutMs: number,
    private readonly report: (request: RequestReport) => void,
  ) {
    server.on('connection', (socket) => {
      if (this.#aborted) return void socket.destroy();
      this.scheduler.shortenTurn();
      this.#open.set(socket, new Connection(socket, this));
      socket.once('close', () => this.#open.delete(socket));
    });

    server.on('drop', () => this.refused.limit++);

    const take = ({ socket }: IncomingMessage, response: ServerResponse) =>
      this.#open.get(socket)?.take(response);
    server.on('request', take);
    // Replaces Node's 100 for every request: the app sends it only before it reads a body.
    server.on('checkContinue', take);
    // Any other expectation is refused like a malformed request; see requireWellFormed.
    server.on('checkExpectation', take);

    server.on('clientError', (error, socket) => {
      if (isSurplus(error)) return;
      const refusal = refusalOf(error);
      if (refusal) this.#open.get(socket)?.refuse(refusal);
      else socket.destroy();
    });
    server.on('connect', (_, socket) => this.#open.get(socket)?.refuse(methodNotAllowed()));
  }

  get open(): number {
    return this.#open.size;
  }

  /** Closes the oldest connections without a pending response, and if there is none the oldest, until `max` are open. */
  closeBeyond(max: number): void {
    while (this.#open.size > max) {
      const open = [...this.#open];
      const [socket, connection] = open.find(([, { idle }]) => idle) ?? open[0]!;
      this.#open.delete(socket);
      connection.abort();
    }
  }

  /** From now on, every response closes its connection. */
  closeAfterResponses(): void {
    this.draining = true;
  }

  /** From now on, connections without a pending response are closed. */
  endIdle(): void {
    for (const connection of this.#open.values()) connection.endWhenIdle();
  }

  /** Closes all connections at once, and those to come. True if a response was pending. */
  abort(): boolean {
    this.#aborted = true;
    return [...this.#open.values()].map((connection) => connection.abort()).includes(true);
  }

  readonly answerRaw = (socket: Socket, refusal: HttpProblem): void => {
    const requestId = randomUUID();
    answerRaw(socket, refusal, requestId);
    this.report({ requestId, status: refusal.status, errorNumber: refusal.problem.error });
  };
}

/** Queued responses, and the bytes that the bodies of their requests may take. */
class QueuedResponses {
  bytes = 0;
  readonly #bytes = new Map<ServerResponse, number>();

  get size(): number {
    return this.#bytes.size;
  }

  add(response: ServerResponse): void {
    const bytes = bufferedBytes(response.req);
    this.bytes += bytes;
    this.#bytes.set(response, bytes);
  }

  delete(response: ServerResponse): void {
    this.bytes -= this.#bytes.get(response) ?? 0;
    this.#bytes.delete(response);
  }
}

/** What Node buffers at most of a body that is not read. */
const MAX_BUFFERED = 64 * 1024;

function bufferedBytes({ headers }: IncomingMessage): number {
  if (headers['transfer-encoding'] !== undefined) return MAX_BUFFERED;
  return Math.min(Number(headers['content-length'] ?? 0), MAX_BUFFERED);
}
