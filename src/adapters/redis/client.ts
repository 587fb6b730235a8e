import { Cluster, Redis, type RedisOptions } from 'ioredis';
import { connectorOf } from './sentinel-connector';
import type { Address, Sentinels } from './sentinels';

export interface ClientOptions {
  /**
   * redis:// or rediss://, with user, password and db. For a cluster or Sentinel, host and port are ignored. The
   * Sentinels themselves get neither a password nor TLS.
   */
  readonly url: string;
  readonly clusterNodes?: readonly Address[] | undefined;
  /** Deadline of a request, in ms; a single Redis command gets half of it. */
  readonly timeoutMs: number;
}

export type RedisClient = Redis | Cluster;

/** Whether the error is a command timeout of ioredis, which has no type or code. The command may still be executed. */
export function isTimeout(error: unknown): boolean {
  return error instanceof Error && error.message === 'Command timed out';
}

/** Timeout of a single command, in ms. */
export function commandTimeout({ timeoutMs }: Pick<ClientOptions, 'timeoutMs'>): number {
  return Math.ceil(timeoutMs / 2);
}

// With replyMapping the types of ioredis are inconsistent under exactOptionalPropertyTypes.
type RedisClientOptions = Omit<RedisOptions, 'replyMapping'>;

/** A client that connects at once, and reconnects after every loss. @param sentinels those that name the primary. */
export function connect(options: ClientOptions, sentinels?: Sentinels): RedisClient {
  // A frozen server does not close its side.
  const disconnectTimeout = 200;
  const redisOptions: RedisClientOptions = {
    connectionName: 'plant-store',
    // Avoids one more command in the ACL, see docs/operations.md.
    disableClientInfo: true,
    enableOfflineQueue: false,
    // Fails commands in flight when a connection breaks, instead of sending them twice.
    maxRetriesPerRequest: 0,
    connectTimeout: 1000,
    disconnectTimeout,
    commandTimeout: commandTimeout(options),
    // A frozen server keeps its sockets open: without this the client would wait for ever.
    socketTimeout: options.timeoutMs,
    // While Redis loads its data, its estimate of the remaining time is unreliable.
    maxLoadingRetryTime: 250,
    retryStrategy: (times) => Math.min(25 * 2 ** times, 500),
  };
  const { clusterNodes, url } = options;
  if (clusterNodes) {
    const cluster = new Cluster([...clusterNodes], {
      enableOfflineQueue: false,
      // Otherwise commands in flight are sent twice when a connection breaks, and only the second reply is seen.
      retryDelayOnFailover: 0,
      clusterRetryStrategy: redisOptions.retryStrategy!,
      redisOptions: { ...redisOptions, ...credentials(url) },
    });
    return cluster.on('+node', handleAsking);
  }
  if (sentinels) {
    const primary = credentials(url);
    const Connector = connectorOf(sentinels, { disconnectTimeout, tls: primary.tls !== undefined });
    return new Redis({ ...redisOptions, ...primary, Connector });
  }
  return new Redis(url, redisOptions);
}

/**
 * Handles the rejections of ASKING, which ioredis sends before a command for a migrating slot and does not await.
 * An unhandled rejection would end the process. The command itself fails as well, or is redirected again.
 */
function handleAsking(node: Redis): void {
  const asking = node.asking.bind(node);
  node.asking = () => {
    const asked = asking();
    asked.catch(() => {});
    return asked;
  };
}

function credentials(url: string): RedisClientOptions {
  const { protocol, username, password, pathname } = new URL(url);
  return {
    ...(username === '' ? {} : { username: decodeURIComponent(username) }),
    ...(password === '' ? {} : { password: decodeURIComponent(password) }),
    ...(pathname.length > 1 ? { db: Number(pathname.slice(1)) } : {}),
    ...(protocol === 'rediss:' ? { tls: {} } : {}),
  };
}
