import { once } from 'node:events';
import { Redis } from 'ioredis';

/** A redis-server under a test's control, wherever it runs. Its address and data stay the same over every `run`. */
export interface RedisProcess {
  readonly host: string;
  readonly port: number;
  /** Host and port at which other servers from the same place reach it: what `--replicaof` takes. */
  readonly peer: readonly [host: string, port: string];

  /** Starts it, or starts it again after SIGKILL. Resolves once it has loaded its data and accepts connections. */
  run(): Promise<void>;
  /** Resolves once the signal has been sent; SIGKILL: once the process is gone. */
  signal(signal: 'SIGKILL' | 'SIGSTOP' | 'SIGCONT'): Promise<void>;
  /** Ends it in whatever state it is, and removes its data. */
  remove(): Promise<void>;
}

/** No snapshots unless a test asks for them, and replicas that do not wait five seconds for company. */
export const DEFAULTS = ['--save', '', '--repl-diskless-sync-delay', '0'];

/** Where a machine gets its Redis servers from. */
export interface RedisSource {
  readonly name: string;
  /** A server that was not started yet; `args` as for redis-server, on top of {@link DEFAULTS}. */
  create(args: readonly string[]): Promise<RedisProcess>;
  close(): Promise<void>;
}

/** Why there is no Redis to be had. */
export interface NoRedis {
  readonly reason: string;
}

/** A running Redis server of a test's own, to configure, look into, kill, freeze and start again. */
export class RedisServer {
  readonly url: string;
  readonly host: string;
  readonly port: number;
  readonly peer: readonly [host: string, port: string];
  /** A plain client for CONFIG, INFO, XRANGE …, connected while the server runs. */
  readonly admin: Redis;

  private constructor(private readonly process: RedisProcess) {
    this.host = process.host;
    this.port = process.port;
    this.peer = process.peer;
    this.url = `redis://${this.host}:${this.port}`;
    this.admin = plainClient(this.url);
  }

  static async start(process: RedisProcess): Promise<RedisServer> {
    const server = new RedisServer(process);
    try {
      await server.start();
      return server;
    } catch (error) {
      await server.stop();
      throw error;
    }
  }

  /** Starts it again after {@link kill9}, on the same data at the same address. Resolves once it answers. */
  async start(): Promise<void> {
    await this.process.run();
    await this.admin.connect();
  }

  /** `kill -9`: no goodbye, no last write. Resolves once the process is gone. */
  async kill9(): Promise<void> {
    const hungUp = once(this.admin, 'end');
    await this.process.signal('SIGKILL');
    await hungUp;
  }

  /** Stops it in its tracks (SIGSTOP): the kernel still accepts connections and bytes for it, but no answer comes. */
  async freeze(): Promise<void> {
    await this.process.signal('SIGSTOP');
  }

  /** Lets it go on where it was frozen: whatever arrived meanwhile is executed now. */
  async thaw(): Promise<void> {
    await this.process.signal('SIGCONT');
  }

  /** Ends it for good, and its data with it. */
  async stop(): Promise<void> {
    disconnect(this.admin);
    await this.process.remove();
  }
}

/** A client that neither connects by itself, nor comes back: what fails in a test shall fail at once. */
export function plainClient(url: string): Redis {
  const client = new Redis(url, { lazyConnect: true, retryStrategy: null });
  // Whoever waits for a command hears of it.
  client.on('error', () => {});
  return client;
}

/** Ends a client's connection. A second `disconnect` would set a timer that keeps the process for two seconds. */
export function disconnect(client: Redis): void {
  if (client.status !== 'end') client.disconnect();
}
