import { type Socket, createServer } from 'node:net';
import { listenLocally } from '../../support/ports';
import type { RedisServer } from '../../support/redis';
import { TcpProxy } from '../../support/tcp-proxy';
import { until } from '../../support/until';

const array = (...texts: readonly string[]) =>
  [`*${texts.length}`, ...texts.flatMap((text) => [`$${text.length}`, text]), ''].join('\r\n');

/** A Sentinel that says, and publishes, what a test lets it. */
export class ScriptedSentinel {
  /** Its reply to a command, instead of that of a Sentinel. */
  strangeReply: (command: string) => string | undefined = () => undefined;
  #epoch = 3;
  /** The network before it. */
  network!: TcpProxy;
  readonly #subscribers = new Set<Socket>();
  readonly #server = createServer((client) => {
    client.on('close', () => this.#subscribers.delete(client)).on('error', () => {});
    // A client sends its commands in one piece; their lengths are left out.
    client.on('data', (bytes) => {
      const words = String(bytes).replace(/(\r\n)?[*$]\d+\r\n/g, ' ');
      for (const [command] of words.matchAll(
        /hello|client setname|sentinel master|get-master|psubscribe/gi,
      ))
        client.write(
          this.strangeReply(command.toLowerCase()) ?? this.#replyTo(client, command.toLowerCase()),
        );
    });
  });

  constructor(private primary: Pick<RedisServer, 'peer'>) {}

  async start(): Promise<this> {
    this.network = await TcpProxy.to({ port: await listenLocally(this.#server) });
    return this;
  }

  get port(): number {
    return this.network.port;
  }

  /** Knows a failover that has ended. */
  learn(primary: Pick<RedisServer, 'peer'>): void {
    this.primary = primary;
    this.#epoch++;
  }

  /** Once the store listens. */
  async publish(channel: string, message: string): Promise<void> {
    await until(() => this.#subscribers.size > 0);
    for (const client of this.#subscribers)
      client.write(array('pmessage', channel, channel, message).replace('*', '>'));
  }

  async close(): Promise<void> {
    this.#server.close();
    await this.network.close();
  }

  #replyTo(client: Socket, command: string): string {
    if (command === 'hello') return '%1\r\n$5\r\nproto\r\n:3\r\n';
    if (command === 'client setname') return '+OK\r\n';
    if (command === 'get-master') return array(...this.primary.peer);
    if (command === 'psubscribe') this.#subscribers.add(client);
    if (command === 'psubscribe') return '>3\r\n$10\r\npsubscribe\r\n$1\r\n*\r\n:1\r\n'.repeat(4);
    return array('config-epoch', String(this.#epoch), 'down-after-milliseconds', '5000');
  }
}
