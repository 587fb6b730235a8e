import { type Socket, createConnection, isIP } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { AbstractConnector } from 'ioredis';
import { CONNECTION_NAME, type RedisClientOptions } from './settings';

export interface Address {
  readonly host: string;
  readonly port: number;
}

/** How long a server may take to close its side of a connection before the socket is destroyed, in ms. */
const DISCONNECT_MS = 200;
export const CONNECT_MS = 1000;

/** The options of every connection: to a server, to a node of a Cluster, and to a Sentinel. */
export const CONNECTION: RedisClientOptions = {
  // It sends INFO, which some servers refuse; the examination finds the same.
  enableReadyCheck: false,
  // Avoids one more command in the ACL, see docs/operations.md.
  disableClientInfo: true,
  // Fails commands in flight when a connection breaks, instead of sending them twice.
  maxRetriesPerRequest: 0,
  connectTimeout: CONNECT_MS,
  disconnectTimeout: DISCONNECT_MS,
};

/** {@link CONNECTION}, with its name. Where ioredis sends the name itself, it ignores whether the server accepts it. */
export const NAMED_CONNECTION: RedisClientOptions = { ...CONNECTION, connectionName: CONNECTION_NAME };

/** What a {@link connectorTo} asks where to connect. `isClosed` tells that nobody wants the connection any more. */
export type Locate = (options: RedisClientOptions, isClosed: () => boolean) => Address | Promise<Address>;

/**
 * A `Connector` for ioredis, which opens the sockets of all three ways to connect. That of ioredis sends no server name
 * in the TLS handshake, and an endpoint that routes by it closes the connection.
 */
export function connectorTo(
  locate: Locate,
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
      // `disconnect` sets it.
      const isClosed = () => !this.connecting;
      const { host, port } = await locate(this.#options, isClosed);
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
  'the Cluster does not name the address of its nodes: set cluster-preferred-endpoint-type to ip, or to hostname with a cluster-announce-hostname for each node';

/** A connector to the host and port of the options: of the URL, or of a node as its Cluster names it. */
export const DirectConnector = connectorTo(({ host, port }) => {
  // Node would connect to this machine instead.
  if (!host || host === '?') throw new Error(UNNAMED_NODES);
  return { host, port: port! };
});
