import { Redis } from 'ioredis';
import type { Sentinels } from './sentinels';

/** Published by one Sentinel about 100 ms before it promotes a replica. */
const BEGINS = '+failover-state-send-slaveof-noone';
/** Published by each Sentinel when it knows the new primary. */
const SWITCHED = '+switch-master';
const ABORTED = '-failover-abort-slave-timeout';

const RECONNECT_MS = 1000;
/** Minimum time between two questions to the Sentinels, in ms. */
const ASK_EVERY_MS = 250;
/** Maximum duration of a failover; after it, the current primary is used. */
const LONGEST_MS = 10_000;

interface FailoverObserver {
  /** A failover starts: the old primary may still acknowledge writes that the new one does not have. */
  begins(): void;
  /** The failover ended: a Sentinel knows the new primary, or it was aborted, or it took ten seconds. */
  ended(): void;
}

/**
 * Detects failovers of a primary by the messages of its Sentinels. In a planned failover the old primary keeps running,
 * and Sentinel demotes it only about ten seconds later; until then nothing else shows the failover.
 */
export class FailoverWatch {
  readonly #connections: readonly Redis[];
  #limit: NodeJS.Timeout | undefined;
  /** The message of the newest switch: with the old and the new address. */
  #newestSwitch: string | undefined;
  /** When it may ask again, by `performance.now()`. */
  #askAt = 0;

  constructor(
    private readonly sentinels: Sentinels,
    private readonly observer: FailoverObserver,
    private readonly longestMs = LONGEST_MS,
  ) {
    const { nodes, primaryName } = sentinels;
    this.#connections = nodes.map(({ host, port }) => {
      const sentinel = new Redis({
        host,
        port,
        connectionName: 'plant-store',
        disableClientInfo: true,
        enableReadyCheck: false,
        maxRetriesPerRequest: null,
        connectTimeout: RECONNECT_MS,
        // A frozen Sentinel does not close its side.
        disconnectTimeout: 0,
        // It only listens, and would not notice that the host of the Sentinel is gone.
        keepAlive: RECONNECT_MS,
        retryStrategy: () => RECONNECT_MS,
      });
      // An unreachable Sentinel does no harm while another one is reachable.
      sentinel.on('error', () => {});
      // It may have published messages before.
      sentinel.on('ready', () => void this.ask());
      sentinel.on('message', (channel: string, message: string) => {
        if (message.split(' ').includes(primaryName)) this.#published(channel, message);
      });
      sentinel.subscribe(BEGINS, SWITCHED, ABORTED).catch(() => {});
      return sentinel;
    });
  }

  /** Whether the Sentinels are replacing the primary. */
  get inProgress(): boolean {
    return this.#limit !== undefined;
  }

  /** Asks the Sentinels whether they name another primary by now: then a failover was missed, which begins and ends now. */
  async ask(): Promise<void> {
    if (performance.now() < this.#askAt) return;
    this.#askAt = Infinity;
    const moved = await this.sentinels.hasMoved();
    this.#askAt = performance.now() + ASK_EVERY_MS;
    if (!moved || this.inProgress) return;
    this.#begin();
    this.#end();
  }

  close(): void {
    clearTimeout(this.#limit);
    for (const sentinel of this.#connections) sentinel.disconnect();
  }

  #published(channel: string, message: string): void {
    if (channel === SWITCHED) {
      // Each Sentinel reports the switch, and the first report of it ends the failover.
      const isKnown = message === this.#newestSwitch;
      this.#newestSwitch = message;
      if (isKnown && !this.inProgress) return;
    }
    // If no reachable Sentinel announced the failover, it is known by its end.
    if (channel !== ABORTED) this.#begin();
    if (channel !== BEGINS) this.#end();
  }

  #begin(): void {
    if (this.inProgress) return;
    this.#limit = setTimeout(() => this.#end(), this.longestMs).unref();
    this.observer.begins();
  }

  #end(): void {
    if (!this.inProgress) return;
    clearTimeout(this.#limit);
    this.#limit = undefined;
    this.observer.ended();
  }
}
