import { type IncomingMessage, type OutgoingHttpHeaders, ServerResponse } from 'node:http';
import type { User } from '../../../application';

/** In bytes. A client that takes less within the read timeout is disconnected. */
const LEAST_READ = 64 * 1024;

/** A connection that `listen` has accepted, as seen by the app. */
interface AcceptedConnection {
  /** The user of its latest request; `undefined` if that had none. Set by the app. */
  user: User | undefined;
  /** Whether the server drains. */
  readonly draining: boolean;
  /** Sends 100 Continue to a client that waits for it, because the body will be read. */
  expectBody(response: ServerResponse): void;
}

/** The same, as seen by its responses. */
export interface ServingConnection extends AcceptedConnection {
  /** The time for which the client may stop reading its response. */
  readonly readTimeoutMs: number;
  /** Whether the connection closes after `response`, the current one. Called when its header is written. */
  isLast(response: ServerResponse): boolean;
}

/** The connection of `response`; `undefined` under another server than `listen`. */
export function clientOf(response: ServerResponse): AcceptedConnection | undefined {
  return isServed(response) ? response.client : undefined;
}

/**
 * Calls `then` once the response was read or its connection closed; at once if that has happened already. It is called
 * before the next request of the connection starts.
 */
export function whenClosed(response: ServerResponse, then: () => void): void {
  if (response.destroyed) then();
  // Its connection calls them before it starts the next request.
  else if (isServed(response) && response.client) response.closing.push(then);
  else response.prependListener('close', then);
}

export function isServed(response: ServerResponse): response is ServedResponse {
  return response instanceof ServedResponse;
}

/**
 * A response on a connection of `listen`, sent by any middleware. The last one has `Connection: close`. A client that stops
 * reading is disconnected once the whole body was written.
 */
export class ServedResponse<
  Request extends IncomingMessage = IncomingMessage,
> extends ServerResponse<Request> {
  client: ServingConnection | undefined;
  /** To call when it closes; see {@link whenClosed}. */
  readonly closing: (() => void)[] = [];
  /** Runs while the client has not read what was written. */
  #unread: NodeJS.Timeout | undefined;
  #isWatched = false;

  override writeHead(status: number, reason?: unknown, fields?: unknown): this {
    if (this.client?.isLast(this) === true) this.setHeader('Connection', 'close');
    return super.writeHead(status, reason as string, fields as OutgoingHttpHeaders);
  }

  override write(chunk: unknown, encoding?: unknown, callback?: (error?: Error | null) => void): boolean {
    const taken = super.write(chunk, encoding as BufferEncoding, callback);
    if (!taken) this.#expectRead();
    return taken;
  }

  override end(chunk?: unknown, encoding?: unknown, callback?: () => void): this {
    super.end(chunk, encoding as BufferEncoding, callback);
    // Most responses fit into the send buffer of the system, and need no timeout.
    if (this.client && this.writableLength > 0 && !this.destroyed) {
      this.setTimeout(this.client.readTimeoutMs, () => this.destroy());
      this.#expectRead();
    }
    return this;
  }

  /** Disconnects a client that reads less than {@link LEAST_READ} per timeout of what was written so far. */
  #expectRead(): void {
    if (!this.client || this.#unread) return;
    const timeouts = Math.max(1, Math.ceil(this.writableLength / LEAST_READ));
    this.#unread = setTimeout(() => this.destroy(), timeouts * this.client.readTimeoutMs);
    if (this.#isWatched) return;
    this.#isWatched = true;
    this.on('drain', this.#stopTimer);
    this.on('close', this.#stopTimer);
  }

  readonly #stopTimer = (): void => {
    clearTimeout(this.#unread);
    this.#unread = undefined;
  };

  /** Resets the connection: otherwise the system would keep up to some megabytes, for as long as the client reads slowly. */
  override destroy(error?: Error): this {
    this.socket?.resetAndDestroy();
    return super.destroy(error);
  }
}
