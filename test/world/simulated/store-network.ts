import type {
  Clock,
  EventStore,
  Feed,
  SnapshotStore,
  StreamArchive,
  StreamCatalogue,
} from '../../../src/event-sourcing';
import type { Move } from './schedule';
import type { SimulatedProcess } from './simulated-process';

/** The stores that a process calls. */
export interface SimulatedStores {
  readonly store: EventStore;
  readonly snapshots: SnapshotStore;
  /** Absent behind the Redis adapter. */
  readonly feed?: Feed;
  readonly catalogue?: StreamCatalogue;
}

/** How the instances of a simulation reach the store. */
export interface StoreNetwork {
  /** Exceeded bounds and leaks. */
  readonly problems: ReadonlySet<string>;
  /** Whether no call and no byte is under way. */
  readonly idle: boolean;
  /** Number of alarms that are always set. */
  readonly recurringAlarms: number;
  /** The stores that a new process of this instance calls. */
  open(instance: number, process: SimulatedProcess, clock: Clock): SimulatedStores;
  /** The archive, as an operator reaches it over the network of an instance; `undefined` if it is reached without one. */
  archive(nth: number): StreamArchive | undefined;
  /** The process of this instance died: no call of it gets an outcome, and each request may still reach the store. */
  disconnect(instance: number, process: SimulatedProcess): void;
  /** A move of the network, or of the calls in it. Others have no effect. */
  play(move: Move): void;
  /** A replica has replaced the primary. @param keepsOld whether the old primary stays, as a replica. */
  failOver(keepsOld: boolean): void;
  restart(): void;
  endFaults(): void;
  /** Called repeatedly once all faults have ended: every call gets its outcome. */
  advance(): void;
  /** The requests without a caller that waits reach the store. */
  executeAllLate(): void;
  /** Closes the stores of the processes, and checks that nothing is left over. */
  close(): Promise<void>;
  /** Undoes what the simulation has replaced. */
  restore(): void;
}

/** Adds the member, or removes it. */
export function toggle<T>(members: Set<T>, member: T, present: boolean): void {
  if (present) members.add(member);
  else members.delete(member);
}
