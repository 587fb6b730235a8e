import type { StreamName } from '../event-sourcing';

export interface ContractOptions {
  /**
   * Maximum number of events that a read or a conflict of the store returns. If it is configurable, use a small
   * one, such as 1 or 3, so that page boundaries are tested.
   */
  readonly pageSize: number;
  /** Whether events survive closing and reopening the store; false by default. Adds cases for it. */
  readonly durable?: boolean;
  /**
   * Whether several stores may be open on one place at a time, as in several instances of a service; false by default.
   * Adds cases for it: they call `open` again while a store is open, and it must open another store on the same place.
   */
  readonly shared?: boolean;
  /**
   * Makes the store that was opened last lose the reply of its next call: the call is executed, and its reply never
   * arrives, because the connection breaks or stays silent. Adds cases for unknown outcomes; none without it.
   */
  readonly loseReply?: () => void | Promise<void>;
  /**
   * Deletes all events of a stream and leaves its base snapshot, as an operator might by mistake. Adds cases for a store
   * that archives: `open` must then return its `archive`, too. None without it.
   */
  readonly loseEvents?: (stream: StreamName) => void | Promise<void>;
  /**
   * The number of entries that the feed keeps at least for each bucket; 200 or more. If it is
   * configurable, use a small one.
   * Adds cases for a store with a feed: `open` must then return it, and the `catalogue`, too. None without it.
   */
  readonly feedLength?: number;
  /** Factor of the amount of random work; 1 by default: about 2,000 store calls in the longest case. */
  readonly effort?: number;
  /** Seed of the random work. A new one by default; a failure names it. */
  readonly seed?: number;
  /** Time limit of one case, in ms; 10,000 by default. */
  readonly timeoutMs?: number;
}

/** Those of the contracts of the other ports. */
export type PortOptions = Partial<Pick<ContractOptions, 'durable' | 'shared' | 'seed' | 'timeoutMs'>>;
