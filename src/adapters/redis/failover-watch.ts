import { Redis } from 'ioredis';
import type { Address } from './client';

/** Published by one Sentinel about 100 ms before it promotes a replica. */
const BEGINS = '+failover-state-send-slaveof-noone';
/** Published by each Sentinel when it knows the new primary. */
const SWITCHED = '+switch-master';
const ABORTED = '-failover-abort-slave-timeout';

const RECONNECT_MS = 1000;
/** Maximum duration of a failover; after it, the current primary is used. */
const LONGEST_MS = 10_000;

export interface FailoverObserver {
  /** A failover starts: the old primary may still acknowledge writes that the new one does not have. */
  begins(): void;
  /** The failover ended: all reachable Sentinels know the new primary, it was aborted, or it took ten seconds. */
  ended(): void;
}

/**
 * Detects failovers of a primary by the messages of its Sentinels. In a planned failover the old primary keeps running,
 * and Sentinel demotes it only about ten seconds later; until then nothing else shows the failover.
 */
export class FailoverWatch {
  readonly #sentinels: readonly Redis[];
  /** The Sentinels that do not know the new primary yet. */
  #pending = new Set<Redis>();
  #limit: NodeJS.Timeout | undefined;
  /** The message of the newest switch: with the old and the new address. */
  #newestSwitch: string | undefined;

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
      // An unreachable Sentinel does no harm while another one is reachable.
      sentinel.on('error', () => {});
      sentinel.on('message', (channel: string, message: string) => {
        if (message.split(' ').includes(this.primary)) this.#published(sentinel, channel, message);
      });
      sentinel.subscribe(BEGINS, SWITCHED, ABORTED).catch(() => {});
      return sentinel;
    });
  }

  close(): void {
    clearTimeout(this.#limit);
    for (const sentinel of this.#sentinels) sentinel.disconnect();
  }

  #published(sentinel: Redis, channel: string, message: string): void {
    if (channel === ABORTED) return this.#end();
    // A Sentinel may report a switch after the end: the leader waits until the other replicas follow.
    const isKnown = channel === SWITCHED && message === this.#newestSwitch;
    if (channel === SWITCHED) this.#newestSwitch = message;
    if (isKnown && this.#limit === undefined) return;
    // A Sentinel that was unreachable at the start reports the failover by its end.
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
