import type { CheckpointStore } from './checkpoint';
import type { EventStore } from './event-store';
import type { Feed } from './feed';
import type { LeaseStore } from './lease-store';
import type { SnapshotStore } from './snapshot-store';
import type { StreamArchive } from './stream-archive';
import type { StreamCatalogue } from './stream-catalogue';

/** How an event store is opened. */
export interface EventStoreOptions {
  /** Deadline of a request, in ms. A call to the store should take less. */
  readonly timeoutMs?: number;
  /** Whether the store opens while its server cannot be reached; true by default. The command line sets it to false. */
  readonly allowUnreachable?: boolean;
  /** Logs connects and disconnects, and problems. Silent by default. */
  readonly report?: (level: 'info' | 'warn' | 'error', message: string) => void;
}

/** An open event store, with what a service needs of it besides its events. */
export interface OpenEventStore {
  readonly store: EventStore;
  /** Absent for a store that cannot list its streams. */
  readonly catalogue?: StreamCatalogue | undefined;
  /** Absent for a store that loads histories at once. */
  readonly snapshots?: SnapshotStore | undefined;
  /** Absent for a store that archives nothing. */
  readonly archive?: StreamArchive | undefined;
  /** Absent for a store whose streams can only be followed one by one. */
  readonly feed?: Feed | undefined;
  /** The leases of projections. Absent for a store whose projections have none. */
  readonly leases?: LeaseStore | undefined;
  /** The checkpoint of a projection, by its name. Absent for a store that keeps none. */
  readonly checkpoints?: ((projection: string) => CheckpointStore) | undefined;
  /** Mints commit ids for this store, shorter than those of `system()`. Absent if it needs those. */
  readonly mintCommit?: (() => string) | undefined;
  /** Health check: resolves with whether the store accepts writes; rejects if it does not answer reads. */
  check(): Promise<{ readonly writes: boolean }>;
  /** What the store can do, as far as it knows without a call. Absent for a store without a server. */
  readonly status?: (() => StoreStatus) | undefined;
  /** Ends everything that keeps the process alive. All calls that follow reject with `StoreUnavailable`. */
  close(): void | Promise<void>;
}

export interface StoreStatus {
  readonly reads: boolean;
  readonly writes: boolean;
  /** Names of what makes the store refuse reads or writes, from a bounded set. None by default. */
  readonly refusals?: readonly string[];
  /** Identifies the store, as far as it has an id and that is known: an emptied store has another one. */
  readonly id?: string | undefined;
}
