import { once } from 'node:events';
import { type AddressInfo, type Server, type Socket, connect, createServer } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';

/** Tests a request: the bytes of one write of the client, which arrive in one piece over the loopback, up to 64 KiB. */
export type RequestMatch = (bytes: Buffer) => boolean;

/**
 * A proxy between a client and a server on this machine, with the faults of
 * a real network. It loses bytes only as TCP can: all bytes after a certain one,
 * never some in between. So a direction that lost bytes carries no more.
 */
export class TcpProxy {
  /** The number of accepted connections. */
  accepted = 0;
  /** Delay of bytes in each direction, in milliseconds. */
  delayMs = 0;
  #blackhole = false;
  #strikes: Strike[] = [];
  readonly #connections = new Set<Connection>();

  private constructor(private readonly listener: Server) {}

  /** Listens on a free port of 127.0.0.1 and passes every connection on to `target`. */
  static async to(target: { readonly host?: string; readonly port: number }): Promise<TcpProxy> {
    const listener = createServer({ allowHalfOpen: true, noDelay: true });
    const proxy = new TcpProxy(listener);
    listener.on('connection', (client) => {
      const server = connect({ host: '127.0.0.1', ...target, allowHalfOpen: true, noDelay: true });
      proxy.#carry(new Connection(client, server));
    });
    await once(listener.listen(0, '127.0.0.1'), 'listening');
    return proxy;
  }

  get port(): number {
    return (this.listener.address() as AddressInfo).port;
  }

  /** The number of accepted connections that the client has not closed. */
  get open(): number {
    return [...this.#connections].filter(({ client }) => !client.destroyed).length;
  }

  /** Closes all open connections. New ones pass. */
  cut(): void {
    for (const connection of this.#connections) connection.cut();
  }

  /** From now on it accepts connections and drops all bytes, and closes nothing. */
  blackhole(): void {
    this.#blackhole = true;
  }

  /** Ends all faults: connections that lost bytes are closed, the others and new ones pass. */
  heal(): void {
    this.#blackhole = false;
    this.#strikes = [];
    this.delayMs = 0;
    for (const connection of this.#connections) if (connection.lossy) connection.cut();
  }

  /**
   * Loses the reply to an executed request: the next request that matches reaches the
   * server, and nothing that the server sends afterwards reaches the client.
   * At the first byte of the reply the connection is closed, or left open and silent.
   * Resolves then, with the lost bytes. A reply to an earlier request that was still
   * in flight counts, too.
   */
  loseReply(matches: RequestMatch, connection: 'cut' | 'left open'): Promise<Buffer> {
    return new Promise((resolve) => {
      this.#strikes.push({
        matches,
        hit(struck, request) {
          struck.withholdReplies((reply) => {
            if (connection === 'cut') struck.cut();
            resolve(reply);
          });
          struck.request(request);
        },
      });
    });
  }

  /** The server gets only the first `length` bytes of the next request that matches. Then the connection is closed. */
  cutRequest(matches: RequestMatch, length: number): Promise<void> {
    return new Promise((resolve) => {
      this.#strikes.push({
        matches,
        hit(struck, request) {
          struck.request(request.subarray(0, length));
          struck.cut();
          resolve();
        },
      });
    });
  }

  async close(): Promise<void> {
    for (const { client, server } of this.#connections) {
      client.destroy();
      server.destroy();
    }
    await once(this.listener.close(), 'close');
  }

  #carry(connection: Connection): void {
    this.accepted += 1;
    this.#connections.add(connection);
    const { client, server } = connection;
    this.#pass(connection, client, {
      bytes: (request) => {
        const strike = this.#strikes.find(({ matches }) => matches(request));
        if (strike === undefined) return connection.request(request);
        this.#strikes = this.#strikes.filter((other) => other !== strike);
        strike.hit(connection, request);
      },
      end: () => server.end(),
    });
    this.#pass(connection, server, {
      bytes: (reply) => connection.reply(reply),
      end: () => connection.endOfReplies(),
    });
  }

  /** One direction. Bytes and ends arrive in order, each after the delay; in a blackhole none does. */
  #pass(connection: Connection, from: Socket, news: { bytes(bytes: Buffer): void; end(): void }): void {
    let arrived = Promise.resolve();
    const send = (arrive: () => void) => {
      const due = performance.now() + this.delayMs;
      arrived = arrived.then(async () => {
        const early = due - performance.now();
        if (early > 0) await pause(early);
        if (this.#blackhole) connection.lossy = true;
        else arrive();
      });
    };
    from.on('data', (bytes) => send(() => news.bytes(bytes)));
    from.on('end', () => send(() => news.end()));
    from.on('close', () => {
      if (!from.readableEnded) send(() => connection.cut());
    });
  }
}

/** A fault for the next matching request only. */
interface Strike {
  readonly matches: RequestMatch;
  hit(connection: Connection, request: Buffer): void;
}

class Connection {
  /** Set if a side has lost bytes without noticing. */
  lossy = false;
  #withheld: ((reply: Buffer) => void) | undefined;

  constructor(
    readonly client: Socket,
    readonly server: Socket,
  ) {
    // An error closes the socket, which the other side notices.
    client.on('error', () => {});
    server.on('error', () => {});
  }

  request(bytes: Buffer): void {
    if (!this.client.destroyed) this.server.write(bytes);
  }

  reply(bytes: Buffer): void {
    if (this.#withheld) this.#withheld(bytes);
    else this.client.write(bytes);
  }

  endOfReplies(): void {
    if (!this.#withheld) this.client.end();
  }

  withholdReplies(withheld: (reply: Buffer) => void): void {
    this.lossy = true;
    this.#withheld = withheld;
  }

  /** Bytes that were passed to the server still arrive there: a reset could make its kernel drop them. */
  cut(): void {
    this.client.destroy();
    this.server.end();
  }
}
