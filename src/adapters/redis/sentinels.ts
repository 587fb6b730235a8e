import { setTimeout as delay } from 'node:timers/promises';
import { Redis } from 'ioredis';

export interface Address {
  readonly host: string;
  readonly port: number;
}

/** Limit for a connection to a Sentinel, and for its reply, in ms. */
const REPLY_MS = 1000;
/** How long the others are awaited once a Sentinel has answered, in ms. */
const OTHERS_MS = 250;

/** What one Sentinel knows of the primary. */
interface SentinelReply {
  readonly primary: Address;
  /** Rises with each failover. */
  readonly epoch: number;
  /** A primary that does not answer for this time is replaced, in ms. */
  readonly downAfterMs: number;
}

/** The Sentinels of one primary. Any of them may be frozen, unreachable, or not know the newest primary yet. */
export class Sentinels {
  #downAfterMs: number | undefined;
  /** The primary that was named last. */
  #named: Address | undefined;

  constructor(
    readonly nodes: readonly Address[],
    readonly primaryName: string,
  ) {}

  /** After how long without an answer a primary is replaced, in ms; `undefined` while no Sentinel has answered. */
  get downAfterMs(): number | undefined {
    return this.#downAfterMs;
  }

  /**
   * Asks all Sentinels at once. Resolves with the primary of the newest configuration, at most {@link OTHERS_MS} after
   * the first answer. Rejects after {@link REPLY_MS} at the latest if none knows the primary.
   */
  async primary(): Promise<Address> {
    const known: SentinelReply[] = [];
    const asked = this.nodes.map(async (node) => known.push(await this.#ask(node)));
    const settled = Promise.allSettled(asked);
    await Promise.any(asked).catch((error: unknown) => {
      const { errors } = error as AggregateError;
      throw new Error(`no Sentinel names the primary ${this.primaryName}: ${String(errors[0])}`);
    });
    await Promise.race([settled, delay(OTHERS_MS, undefined, { ref: false })]);
    const newest = known.reduce((one, other) => (other.epoch > one.epoch ? other : one));
    this.#downAfterMs = newest.downAfterMs;
    this.#named = newest.primary;
    return newest.primary;
  }

  /** Whether they name another primary than the last time. False if none answers. */
  async hasMoved(): Promise<boolean> {
    const before = this.#named;
    const now = await this.primary().catch(() => before);
    return before !== undefined && (now!.host !== before.host || now!.port !== before.port);
  }

  async #ask({ host, port }: Address): Promise<SentinelReply> {
    const sentinel = new Redis({
      ...{ host, port },
      connectionName: 'plant-store',
      disableClientInfo: true,
      enableReadyCheck: false,
      maxRetriesPerRequest: 0,
      retryStrategy: () => null,
      connectTimeout: REPLY_MS,
      commandTimeout: REPLY_MS,
      disconnectTimeout: 0,
    });
    let fault: unknown;
    sentinel.on('error', (error) => (fault = error));
    try {
      // The leader of a failover knows the new address by name before it has its new configuration, so the second
      // reply is never older than the first.
      const [facts, address] = await Promise.all([
        sentinel.call('SENTINEL', 'MASTER', this.primaryName) as Promise<readonly string[]>,
        sentinel.call('SENTINEL', 'GET-MASTER-ADDR-BY-NAME', this.primaryName) as Promise<
          readonly string[] | null
        >,
      ]);
      if (address === null) throw new Error(`${host}:${port} does not watch it`);
      const fact = (name: string) => Number(facts[facts.indexOf(name) + 1]);
      return {
        primary: { host: address[0]!, port: Number(address[1]) },
        epoch: fact('config-epoch'),
        downAfterMs: fact('down-after-milliseconds'),
      };
    } catch (error) {
      throw fault ?? error;
    } finally {
      sentinel.disconnect();
    }
  }
}
