import { type Socket, createConnection, isIP } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { AbstractConnector } from 'ioredis';
import { CONNECTION_NAME, type RedisClientOptions } from './settings';

export interface Address {
  readonly host: string;
  readonly port: number;
}

const DISCONNECT_MS = 200;
export const CONNECT_MS = 1000;

export const CONNECTION: RedisClientOptions = {
  // The ready check sends INFO, which some servers refuse. The examination finds the same.
  enableReadyCheck: false,
  // Sending the client's information needs one more right of the Redis user, see
  // docs/operations.md.
  disableClientInfo: true,
  // Commands in flight fail when a connection breaks, because ioredis would otherwise send them
  // twice.
  maxRetriesPerRequest: 0,
  connectTimeout: CONNECT_MS,
  disconnectTimeout: DISCONNECT_MS,
};

/**
 * {@link CONNECTION} with a name that ioredis sends first, for Sentinels and the nodes of a Cluster.
 * ioredis ignores the reply, in which a full server says that it is full. So the guard names the
 * connection to a single Redis with a command of its own.
 */
export const NAMED_CONNECTION: RedisClientOptions = {
  ...CONNECTION,
  connectionName: CONNECTION_NAME,
};

export type FindServer = (
  options: RedisClientOptions,
  isClosed: () => boolean,
) => Address | Promise<Address>;

/**
 * Returns a `Connector` for ioredis that opens the sockets of all connections. The connector of
 * ioredis sends no server name in the TLS handshake (RFC 6066, section 3), and an
 * endpoint that routes by that name closes the connection.
 */
export function connectorTo(
  findServer: FindServer,
  opened: (socket: Socket, to: Address) => void = () => {},
): new (options: unknown) => AbstractConnector {
  return class extends AbstractConnector {
    readonly #options: RedisClientOptions;

    constructor(options: unknown) {
      super((options as RedisClientOptions).disconnectTimeout!);
      this.#options = options as RedisClientOptions;
    }

    override async connect(): Promise<Socket> {
      this.connecting = true;
      // `disconnect` sets `connecting` to false.
      const isClosed = () => !this.connecting;
      const { host, port } = await findServer(this.#options, isClosed);
      if (isClosed()) throw new Error('Connection is closed.');
      const { tls } = this.#options;
      const socket: Socket = tls
        ? connectTls({ ...tls, host, port, ...(isIP(host) === 0 && { servername: host }) })
        : createConnection({ host, port });
      this.stream = socket;
      opened(socket, { host, port });
      return socket.once('error', (error) => (this.firstError = error));
    }
  };
}

export const UNNAMED_NODES =
  'the Cluster does not name the address of its nodes: set cluster-preferred-endpoint-type to ip, ' +
  'or to hostname with a cluster-announce-hostname for each node';

export const DirectConnector = connectorTo(({ host, port }) => {
  // Without a host, Node would connect to this machine.
  if (!host || host === '?') throw new Error(UNNAMED_NODES);
  return { host, port: port! };
});
