import { type Socket, createConnection } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { connect as connectTls } from 'node:tls';
import { AbstractConnector } from 'ioredis';
import type { Address, Sentinels } from './sentinels';

const RETRY_MS = 100;

interface SentinelConnectorOptions {
  readonly disconnectTimeout: number;
  /** Whether the connection to the primary uses TLS. */
  readonly tls: boolean;
}

/**
 * The `Connector` of an ioredis client that connects to the primary that the Sentinels name. The one of ioredis asks
 * one Sentinel after the other, waits for each without a limit, and believes one that does not know the newest primary.
 */
export function connectorOf(
  sentinels: Sentinels,
  { disconnectTimeout, tls }: SentinelConnectorOptions,
): new () => AbstractConnector {
  return class extends AbstractConnector {
    constructor() {
      super(disconnectTimeout);
    }

    /** Whether the client may use the server; if not, it reconnects. */
    override check({ role }: { readonly role?: string }): boolean {
      return role !== 'slave';
    }

    // ioredis would end the client if this rejected before it is closed.
    override async connect(emit: (type: 'error', error: Error) => void): Promise<Socket> {
      this.connecting = true;
      for (;;) {
        const asked = await sentinels.primary().catch((error: unknown) => error as Error);
        if (this.#closed) throw new Error('Connection is closed.');
        if (!(asked instanceof Error)) return this.#open(asked);
        emit('error', asked);
        await delay(RETRY_MS, undefined, { ref: false });
      }
    }

    /** Set by `disconnect`. */
    get #closed(): boolean {
      return !this.connecting;
    }

    #open(primary: Address): Socket {
      const { host, port } = primary;
      const socket: Socket = tls ? connectTls({ host, port }) : createConnection({ host, port });
      this.stream = socket;
      return socket.once('error', (error) => (this.firstError = error));
    }
  };
}
