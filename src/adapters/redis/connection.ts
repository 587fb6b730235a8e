import { Cluster, Redis, type RedisOptions } from 'ioredis';
import { StoreUnavailable } from '../../application';
import { type Findings, checkServer } from './server-checks';

export interface Address {
  readonly host: string;
  readonly port: number;
}

export interface RedisConnectionOptions {
  /** redis:// or rediss://, with user, password and db; of a cluster or Sentinel these and TLS only. */
  readonly url: string;
  readonly clusterNodes?: readonly Address[] | undefined;
  readonly sentinels?: { readonly nodes: readonly Address[]; readonly master: string } | undefined;
  /** Within how long a request of a client is answered, in ms; a single command to Redis gets half of it. */
  readonly timeoutMs: number;
  readonly report: (level: 'info' | 'warn' | 'error', message: string) => void;
}

type Client = Redis | Cluster;

const UNREACHABLE = 'Redis cannot be reached';
const NO_ERROR = 'the connection was closed';
const LATER_MS = 250;

/**
 * One way to Redis. It reconnects by itself, and hands out its client only
 * while the server behind it is known to be fit: it is examined after every
 * (re)connect, for behind the same address there may now be a replica. (Of a
 * cluster the nodes that there are when it is first reached, and again after
 * all were lost: it tells by itself who is primary.)
 *
 * ioredis left to itself fails a command only after minutes, sends it after its
 * caller gave up, and sends it again after a reconnect; all of that is off. Yet
 * nothing relies on it for correctness: versions and commit ids do that.
 */
export class RedisConnection {
  readonly #client: Client;
  /** Why nothing is let through; `undefined` while the server is fit. */
  #trouble: string | undefined = UNREACHABLE;
  /** Why there is no connection, as far as that was told. */
  #lastError = NO_ERROR;
  #examined: () => void = () => {};
  #probe = Promise.resolve();
  #nextProbe: Promise<void> | undefined;
  /** Settles once the first server that answered has been examined; stays pending while none answers. */
  readonly examined = new Promise<void>((resolve) => (this.#examined = resolve));

  constructor(private readonly options: RedisConnectionOptions) {
    this.#client = connect(options);
    this.#client.on('error', (error: Error) => this.#failed(error.message));
    this.#client.on('ready', () => void this.#examine());
    this.#client.on('close', () => this.#lost());
  }

  /** Throws {@link StoreUnavailable} while the server is away or unfit. */
  get client(): Client {
    if (this.#trouble !== undefined) throw new StoreUnavailable(this.#trouble);
    return this.#client;
  }

  get trouble(): string | undefined {
    return this.#trouble;
  }

  /** For how long replicas may take to confirm, in ms: less than the command may, so that its answer is heard. */
  get waitMs(): number {
    return Math.max(1, Math.floor(this.commandTimeoutMs * 0.8));
  }

  /** For how long the answer to a command is waited for, in ms. */
  get commandTimeoutMs(): number {
    return commandTimeout(this.options);
  }

  /**
   * Resolves once Redis has answered all that was sent by now, also where its time was over, or once the connection has
   * ended. Redis answers in order, so the answer to one more command shows it. (Not of a cluster, which has many
   * connections.)
   */
  untilAnswered(): Promise<void> {
    if (this.#client instanceof Cluster) return Promise.resolve();
    // One probe at a time, sent after each caller's own commands.
    return (this.#nextProbe ??= this.#probe.then(() => {
      this.#probe = this.#nextProbe!;
      this.#nextProbe = undefined;
      return this.#probeUntilAnswered();
    }));
  }

  async #probeUntilAnswered(): Promise<void> {
    while (await (this.#client as Redis).role().then(() => false, isTimeout)) continue;
  }

  /**
   * Goes along with every read, for a server that is made a replica keeps its
   * connections and goes on answering reads, from the past. (Writes it refuses
   * by itself, and in a cluster reads as well.) Rejects with {@link StoreUnavailable}.
   */
  async mustBePrimary(): Promise<void> {
    if (this.#client instanceof Cluster) return;
    const [role] = await this.#client.role().catch(ifForbidden(['master']));
    if (role === 'master') return;
    if (this.#trouble === undefined) {
      this.#trouble = 'Redis was made a replica';
      this.#client.disconnect(true);
    }
    throw new StoreUnavailable(this.#trouble);
  }

  /**
   * Asks whether the server answers, and is the primary still; of a cluster, whether any node does. By ROLE and not by
   * PING, which the service would have to be allowed. Rejects where it does not, or with {@link StoreUnavailable}.
   */
  async check(): Promise<void> {
    const { client } = this;
    if (!(client instanceof Cluster)) return this.mustBePrimary();
    await Promise.any(client.nodes('master').map((node) => node.role().catch(ifForbidden(undefined))));
  }

  close(): void {
    this.#trouble ??= 'the connection to Redis was closed';
    this.#client.disconnect();
  }

  async #examine(): Promise<void> {
    try {
      const nodes = this.#client instanceof Cluster ? this.#client.nodes('master') : [this.#client];
      const findings = await Promise.all(nodes.map(examineNode));
      this.#judge(
        findings.flatMap(({ refusals }) => refusals),
        findings.flatMap(({ warnings }) => warnings),
      );
      this.#examined();
      // Somebody may mend it, or promote it, and break no connection; or the address may lead elsewhere by now.
      if (this.#trouble !== undefined) this.#later(() => this.#client.disconnect(true));
    } catch {
      // A connection that broke is examined when it is back; one that is up was only too busy to answer.
      this.#later(() => void this.#examine());
    }
  }

  #judge(refusals: readonly string[], warnings: readonly string[]): void {
    const { report } = this.options;
    const known = this.#trouble;
    this.#lastError = NO_ERROR;
    this.#trouble = refusals.length === 0 ? undefined : `Redis must not be used: ${refusals.join('; ')}`;
    if (this.#trouble === undefined) {
      for (const warning of warnings) report('warn', `Redis: ${warning}`);
      report('info', 'Redis is connected');
    } else if (this.#trouble !== known) report('error', this.#trouble);
  }

  #later(action: () => void): void {
    setTimeout(() => this.#client.status === 'ready' && action(), LATER_MS).unref();
  }

  /** A wrong password looks like a server that is away, unless its word is passed on. Once: it is tried again and again. */
  #failed(why: string): void {
    if (this.#trouble === UNREACHABLE && why !== this.#lastError)
      this.options.report('warn', `${UNREACHABLE}: ${why}`);
    this.#lastError = why;
  }

  #lost(): void {
    if (this.#trouble === undefined)
      this.options.report('warn', `Redis is gone (${this.#lastError}); reconnecting`);
    this.#trouble ??= UNREACHABLE;
  }
}

async function examineNode(node: Redis): Promise<Findings> {
  const [info, appendfsync] = await Promise.all([
    node.info().catch(ifForbidden('')),
    node
      .config('GET', 'appendfsync')
      .then((reply) => reply[1])
      .catch(ifForbidden(undefined)),
    // Refused its database, ioredis goes on in number 0.
    node.options.db ? node.select(node.options.db) : undefined,
  ]);
  return checkServer(info, appendfsync);
}

/** Managed Redis often forbids CONFIG, sometimes INFO: then it answers with an error, and the check becomes a warning. */
function ifForbidden<T>(instead: T): (error: unknown) => T {
  return (error) => {
    if (error instanceof Error && /^(?:NOPERM|ERR unknown command)/.test(error.message)) return instead;
    throw error;
  };
}

/** Whether ioredis gave up on a command, which may still be executed. It has no type or code for it. */
export function isTimeout(error: unknown): boolean {
  return error instanceof Error && error.message === 'Command timed out';
}

function commandTimeout({ timeoutMs }: RedisConnectionOptions): number {
  return Math.ceil(timeoutMs / 2);
}

// With replyMapping its own types do not fit one another under exactOptionalPropertyTypes.
type Options = Omit<RedisOptions, 'replyMapping'>;

function connect(options: RedisConnectionOptions): Client {
  const redisOptions: Options = {
    connectionName: 'plant-store',
    // One command less to be allowed, see docs/operations.md.
    disableClientInfo: true,
    enableOfflineQueue: false,
    // Fails what was under way when a connection breaks, instead of sending it a second time.
    maxRetriesPerRequest: 0,
    connectTimeout: 1000,
    // A frozen server does not say goodbye either.
    disconnectTimeout: 200,
    commandTimeout: commandTimeout(options),
    // A frozen server keeps its sockets open: without this they would be waited on for ever.
    socketTimeout: options.timeoutMs,
    // While it loads its data it tells how long that will take, and is often wrong.
    maxLoadingRetryTime: LATER_MS,
    retryStrategy: (times) => Math.min(25 * 2 ** times, 500),
    // After a failover the old primary refuses writes: connect anew, to whoever is primary now. (Redis 6
    // wraps what a script ran into in words of its own.)
    reconnectOnError: (error) => error.message.includes('READONLY'),
  };
  const { clusterNodes, sentinels, url } = options;
  if (clusterNodes) {
    const cluster = new Cluster([...clusterNodes], {
      enableOfflineQueue: false,
      // Else what was under way when a connection broke is sent a second time, and a refusal then passes for the first.
      retryDelayOnFailover: 0,
      clusterRetryStrategy: redisOptions.retryStrategy!,
      redisOptions: { ...redisOptions, ...credentials(url) },
    });
    return cluster.on('+node', handleAsking);
  }
  if (sentinels) {
    return new Redis({
      ...redisOptions,
      ...credentials(url),
      sentinels: [...sentinels.nodes],
      name: sentinels.master,
    });
  }
  return new Redis(url, redisOptions);
}

/**
 * Before a command for a slot that is being handed over ioredis sends ASKING, and drops its promise: rejected, it would
 * be an unhandled rejection, which ends the process. (The command itself fails as well, or is sent on once more.)
 */
function handleAsking(node: Redis): void {
  const asking = node.asking.bind(node);
  node.asking = () => {
    const asked = asking();
    asked.catch(() => {});
    return asked;
  };
}

function credentials(url: string): Options {
  const { protocol, username, password, pathname } = new URL(url);
  return {
    ...(username === '' ? {} : { username: decodeURIComponent(username) }),
    ...(password === '' ? {} : { password: decodeURIComponent(password) }),
    ...(pathname.length > 1 ? { db: Number(pathname.slice(1)) } : {}),
    ...(protocol === 'rediss:' ? { tls: {} } : {}),
  };
}
