import { type Socket, connect } from 'node:net';

/** A response: its status, and the number of an error. */
export interface Received {
  readonly status: number;
  readonly error?: number;
  /** Seconds. */
  readonly retryAfter?: number;
}

/** Why there is no response. */
export type Missing = 'closed' | 'timeout' | 'hang-up' | 'unanswered';

interface PendingExchange {
  readonly resolve: (outcome: Received | Missing) => void;
  readonly timer: NodeJS.Timeout;
}

const END_OF_HEAD = Buffer.from('\r\n\r\n');
/** Error bodies are read for their number. Other bodies are only counted. */
const LONGEST_ERROR = 1024;

/**
 * A keep-alive connection for one request at a time, cheap enough for
 * thousands in one process: it reads the header, and skips bodies. It
 * reconnects for the next request after it was closed.
 */
export class LoadConnection {
  #socket: Socket | undefined;
  #exchange: PendingExchange | undefined;
  /** The received part of the header, or of the body of an error. */
  #held: Buffer | undefined;
  #received: Received | undefined;
  #bodyLeft = 0;
  #closes = false;

  constructor(private readonly url: URL) {}

  /** Closes the connection after `timeoutMs`, with the outcome `hang-up` if `hangsUp`, else `timeout`. */
  send(request: string | Buffer, timeoutMs: number, hangsUp: boolean): Promise<Received | Missing> {
    return new Promise((resolve) => {
      const timer = setTimeout(() => this.close(hangsUp ? 'hang-up' : 'timeout'), timeoutMs);
      this.#exchange = { resolve, timer };
      (this.#socket ??= this.#open()).write(request);
    });
  }

  /** Settles a request in flight with this outcome. */
  close(outcome: Missing = 'closed'): void {
    const socket = this.#socket;
    this.#reset();
    socket?.destroy();
    this.#settle(outcome);
  }

  #open(): Socket {
    const socket = connect({ host: this.url.hostname, port: Number(this.url.port), noDelay: true });
    const lost = () => {
      if (this.#socket === socket) this.close();
    };
    socket.on('data', (chunk) => this.#socket === socket && this.#read(chunk));
    socket.on('error', lost);
    socket.on('end', () => socket.destroy());
    socket.on('close', lost);
    return socket;
  }

  #reset(): void {
    this.#socket = undefined;
    this.#held = undefined;
    this.#received = undefined;
  }

  #settle(outcome: Received | Missing): void {
    const exchange = this.#exchange;
    if (exchange === undefined) return;
    this.#exchange = undefined;
    clearTimeout(exchange.timer);
    exchange.resolve(outcome);
  }

  #read(chunk: Buffer): void {
    if (this.#received === undefined) {
      const bytes = this.#held === undefined ? chunk : Buffer.concat([this.#held, chunk]);
      const end = bytes.indexOf(END_OF_HEAD);
      this.#held = end === -1 ? bytes : undefined;
      if (end === -1) return;
      this.#readHead(bytes.toString('latin1', 0, end));
      chunk = bytes.subarray(end + END_OF_HEAD.length);
    }
    this.#bodyLeft -= chunk.length;
    const { status } = this.#received!;
    if (status >= 400 && (this.#held?.length ?? 0) < LONGEST_ERROR)
      this.#held = this.#held === undefined ? chunk : Buffer.concat([this.#held, chunk]);
    if (this.#bodyLeft <= 0) this.#finish();
  }

  #readHead(head: string): void {
    const status = Number(head.slice(9, 12));
    const length = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1];
    if (length === undefined && status !== 204 && status !== 304) throw new Error(`no length:\n${head}`);
    const retryAfter = /\r\nretry-after: *(\d+)/i.exec(head)?.[1];
    this.#received = { status, ...(retryAfter === undefined ? {} : { retryAfter: Number(retryAfter) }) };
    this.#bodyLeft = status === 304 ? 0 : Number(length ?? 0);
    this.#closes = /\r\nconnection: *close/i.test(head);
  }

  #finish(): void {
    const error = /"error":(\d+)/.exec(this.#held?.toString('latin1') ?? '')?.[1];
    const received = { ...this.#received!, ...(error === undefined ? {} : { error: Number(error) }) };
    this.#held = undefined;
    this.#received = undefined;
    this.#settle(received);
    if (this.#closes) this.close();
  }
}
