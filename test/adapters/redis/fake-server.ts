import { once } from 'node:events';
import { type AddressInfo, type Server, type Socket, createServer } from 'node:net';
import { CommandDecoder, type Reply, encodeReply } from '../../world/simulated/redis/resp';

/** A server that speaks the protocol of Redis, in place of a Redis or a Sentinel. */
export class FakeServer {
  readonly #subscribers = new Set<Socket>();
  readonly #connections = new Set<Socket>();

  private constructor(
    private readonly server: Server,
    private readonly reply: (args: readonly string[]) => Reply | Promise<Reply>,
  ) {
    server.on('connection', (socket) => this.#serve(socket));
  }

  /** @param reply to every command but SUBSCRIBE. @param port by default a free one. */
  static async start(
    reply: (args: readonly string[]) => Reply | Promise<Reply>,
    port = 0,
  ): Promise<FakeServer> {
    const server = createServer().listen(port, '127.0.0.1');
    await once(server, 'listening');
    return new FakeServer(server, reply);
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  get url(): string {
    return `redis://127.0.0.1:${this.port}`;
  }

  /** Number of open connections. */
  get connections(): number {
    return this.#connections.size;
  }

  get subscribers(): number {
    return this.#subscribers.size;
  }

  publish(channel: string, message: string): void {
    for (const socket of this.#subscribers) socket.write(push('message', channel, message));
  }

  /** Ends, with all connections. */
  async stop(): Promise<void> {
    if (!this.server.listening) return;
    const closed = once(this.server, 'close');
    this.server.close();
    for (const socket of this.#connections) socket.destroy();
    await closed;
  }

  #serve(socket: Socket): void {
    const decoder = new CommandDecoder();
    let replied = Promise.resolve();
    this.#connections.add(socket);
    socket.on('error', () => {});
    socket.on('close', () => {
      this.#connections.delete(socket);
      this.#subscribers.delete(socket);
    });
    socket.on('data', (bytes) => {
      for (const { args } of decoder.write(bytes)) {
        const [name, ...channels] = args;
        if (name?.toLowerCase() !== 'subscribe') {
          const reply = this.reply(args);
          // In the order of the commands.
          replied = replied.then(async () => void socket.write(encodeReply(await reply)));
        } else {
          for (const channel of channels) socket.write(push('subscribe', channel, 1));
          this.#subscribers.add(socket);
        }
      }
    });
  }
}

/** An out-of-band message of RESP3. */
function push(...parts: readonly Reply[]): Buffer {
  return Buffer.concat([Buffer.from(`>${parts.length}\r\n`), ...parts.map(encodeReply)]);
}
