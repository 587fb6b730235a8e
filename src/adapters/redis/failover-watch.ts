import { Redis } from 'ioredis';
import type { Address } from './client';

/** A Sentinel publishes it about 100 ms before it promotes a replica. */
const BEGINS = '+failover-state-send-slaveof-noone';
/** Each Sentinel publishes it once it names the new primary. */
const SWITCHED = '+switch-master';
const ABORTED = '-failover-abort-slave-timeout';

const RECONNECT_MS = 1000;
/** For how long a failover may take that has begun; after that the primary is used that there is. */
const LONGEST_MS = 10_000;

export interface FailoverObserver {
  /** The primary is about to be replaced, and will go on acknowledging writes that its successor does not have. */
  begins(): void;
  /** All Sentinels that can be reached name the new primary; or the old one remains. */
  ended(): void;
}

/**
 * Follows the failovers of one primary by what its Sentinels publish. A planned failover leaves the old primary running,
 * and Sentinel demotes it only some ten seconds later: nothing else shows that it has a successor.
 */
export class FailoverWatch {
  readonly #sentinels: readonly Redis[];
  /** Those that do not name the new primary yet. */
  #pending = new Set<Redis>();
  #limit: NodeJS.Timeout | undefined;

  constructor(
    sentinels: readonly Address[],
    private readonly primary: string,
    private readonly observer: FailoverObserver,
  ) {
    this.#sentinels = sentinels.map(({ host, port }) => {
      const sentinel = new Redis({
        host,
        port,
        connectionName: 'plant-store',
        disableClientInfo: true,
        enableReadyCheck: false,
        maxRetriesPerRequest: null,
        connectTimeout: RECONNECT_MS,
        retryStrategy: () => RECONNECT_MS,
      });
      // One that is away is not missed while another one is there.
      sentinel.on('error', () => {});
      sentinel.on('message', (channel: string, message: string) => {
        if (message.split(' ').includes(this.primary)) this.#published(sentinel, channel);
      });
      sentinel.subscribe(BEGINS, SWITCHED, ABORTED).catch(() => {});
      return sentinel;
    });
  }

  close(): void {
    clearTimeout(this.#limit);
    for (const sentinel of this.#sentinels) sentinel.disconnect();
  }

  #published(sentinel: Redis, channel: string): void {
    if (channel === ABORTED) return this.#end();
    // One that was away when it began shows the failover by its end.
    if (this.#limit === undefined) this.#begin();
    if (channel === SWITCHED) this.#pending.delete(sentinel);
    if (channel === SWITCHED && this.#pending.size === 0) this.#end();
  }

  #begin(): void {
    this.#pending = new Set(this.#sentinels.filter(({ status }) => status === 'ready'));
    this.#limit = setTimeout(() => this.#end(), LONGEST_MS).unref();
    this.observer.begins();
  }

  #end(): void {
    if (this.#limit === undefined) return;
    clearTimeout(this.#limit);
    this.#limit = undefined;
    this.observer.ended();
  }
}
