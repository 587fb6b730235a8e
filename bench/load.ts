/**
 * A generator of load: HTTP/1.1 over keep-alive connections of its own, because a library would
 * cost more than a server.
 */
import { once } from 'node:events';
import { type Socket, connect } from 'node:net';

export interface Request {
  readonly bytes: string;
  /** The only status that its response may have. */
  readonly status: number;
}

/** The next request; `undefined` if there is none left. */
export type Next = () => Request | undefined;

const END_OF_HEADER = '\r\n\r\n';

/** One connection, with at most one request in flight. */
class Connection {
  #received: Buffer = Buffer.alloc(0);
  #answered: ((status: number) => void) | undefined;

  constructor(private readonly socket: Socket) {
    socket.setNoDelay(true);
    socket.on('data', (chunk) => this.#receive(chunk));
    socket.on('close', () => {
      if (this.#answered) throw new Error('the server has closed a connection with a request');
    });
  }

  send(bytes: string, answered: (status: number) => void): void {
    this.#answered = answered;
    this.socket.write(bytes, 'latin1');
  }

  close(): void {
    this.socket.destroy();
  }

  #receive(chunk: Buffer): void {
    const received = this.#received.length === 0 ? chunk : Buffer.concat([this.#received, chunk]);
    const end = received.indexOf(END_OF_HEADER);
    const header = received.toString('latin1', 0, Math.max(end, 0));
    const status = Number(header.slice(9, 12));
    const length = status === 204 ? 0 : Number(/\r\ncontent-length: (\d+)/i.exec(header)?.[1]);
    if (end >= 0 && Number.isNaN(length))
      throw new Error(`a response without a length:\n${header}`);
    const isWhole = end >= 0 && received.length >= end + END_OF_HEADER.length + length;
    this.#received = isWhole ? Buffer.alloc(0) : received;
    if (!isWhole) return;
    const answered = this.#answered!;
    this.#answered = undefined;
    answered(status);
  }
}

/** Connections to one server, from which all of its load comes. */
export class Load {
  private constructor(private readonly connections: readonly Connection[]) {}

  /**
   * Connects for `work` alone: a server may close connections that are idle while another one is
   * measured.
   */
  static async on<T>(
    port: number,
    connections: number,
    work: (load: Load) => Promise<T>,
  ): Promise<T> {
    const sockets = Array.from({ length: connections }, () => connect(port, '127.0.0.1'));
    await Promise.all(sockets.map((socket) => once(socket, 'connect')));
    const load = new Load(sockets.map((socket) => new Connection(socket)));
    const result = await work(load);
    for (const connection of load.connections) connection.close();
    return result;
  }

  /**
   * Sends on each connection the next request as soon as the one before is answered, for `seconds`
   * or until there is none left. Resolves with the number of requests; rejects at a response with
   * another status.
   */
  async saturate(next: Next, seconds: number): Promise<number> {
    const end = performance.now() + seconds * 1000;
    let count = 0;
    const one = (connection: Connection) =>
      new Promise<void>((resolve, reject) => {
        const step = () => {
          const request = performance.now() < end ? next() : undefined;
          if (request === undefined) {
            resolve();
            return;
          }
          connection.send(request.bytes, (status) => {
            if (status === request.status) {
              count++;
              step();
            } else reject(wrong(status, request));
          });
        };
        step();
      });
    await Promise.all(this.connections.map(one));
    return count;
  }

  /**
   * Sends `rate` requests a second, whether earlier ones are answered or not, for `seconds` or
   * until there is none left. Resolves with the times to their responses in ms, sorted: from the
   * millisecond in which each was due, so a server that stops is not spared the requests that it
   * kept from being sent.
   */
  pace(next: Next, rate: number, seconds: number): Promise<readonly number[]> {
    const times: number[] = [];
    const idle = [...this.connections];
    const due: { readonly request: Request; readonly at: number }[] = [];
    const start = performance.now();
    let planned = 0;
    let isEnded = false;
    return new Promise((resolve, reject) => {
      const send = () => {
        while (due.length > 0 && idle.length > 0) {
          const [{ request, at }, connection] = [due.shift()!, idle.pop()!];
          connection.send(request.bytes, (status) => {
            if (status !== request.status) return reject(wrong(status, request));
            times.push(performance.now() - at);
            idle.push(connection);
            send();
          });
        }
        if (!isEnded || due.length > 0 || idle.length < this.connections.length) return;
        clearInterval(timer);
        resolve(times.sort((a, b) => a - b));
      };
      const timer = setInterval(() => {
        const elapsed = performance.now() - start;
        for (; !isEnded && planned < (elapsed / 1000) * rate; planned++) {
          const request = elapsed < seconds * 1000 ? next() : undefined;
          if (request === undefined) isEnded = true;
          else due.push({ request, at: start + Math.ceil((planned / rate) * 1000) });
        }
        send();
      }, 1);
    });
  }
}

function wrong(status: number, { bytes }: Request): Error {
  return new Error(`a response has the status ${status} to ${bytes.split('\r\n', 1)[0]!}`);
}
