import { Cluster, Redis, type RedisOptions } from 'ioredis';

export interface Address {
  readonly host: string;
  readonly port: number;
}

export interface ClientOptions {
  /** redis:// or rediss://, with user, password and db; of a cluster or Sentinel these and TLS only. */
  readonly url: string;
  readonly clusterNodes?: readonly Address[] | undefined;
  readonly sentinels?: { readonly nodes: readonly Address[]; readonly master: string } | undefined;
  /** Within how long a request of a client is answered, in ms; a single command to Redis gets half of it. */
  readonly timeoutMs: number;
}

export type Client = Redis | Cluster;

/** Whether ioredis gave up on a command, which may still be executed. It has no type or code for it. */
export function isTimeout(error: unknown): boolean {
  return error instanceof Error && error.message === 'Command timed out';
}

/** For how long the answer to a command is waited for, in ms. */
export function commandTimeout({ timeoutMs }: Pick<ClientOptions, 'timeoutMs'>): number {
  return Math.ceil(timeoutMs / 2);
}

// With replyMapping its own types do not fit one another under exactOptionalPropertyTypes.
type Options = Omit<RedisOptions, 'replyMapping'>;

/** Connects by itself, at once and again and again. */
export function connect(options: ClientOptions): Client {
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
    maxLoadingRetryTime: 250,
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
