/** Places in memory for stores with all ports, with and without faults. */
import {
  type CheckpointStore,
  type EventStore,
  type Feed,
  type LeaseStore,
  OutcomeUnknown,
  type Snapshot,
  type SnapshotStore,
  StoreUnavailable,
  type StoredEvent,
  type StreamArchive,
  type StreamCatalogue,
  type StreamName,
} from '../../src/event-sourcing';
import type { MemoryFeed } from '../../src/adapters/memory/feed';
import type { ContractOptions, OpenStore } from '../../src/testing';
import { Disk } from './disk';

interface Ports {
  readonly store: EventStore;
  readonly feed: Feed;
  readonly catalogue: StreamCatalogue;
  readonly snapshots: SnapshotStore & Required<Pick<SnapshotStore, 'loadBase'>>;
  readonly archive: StreamArchive;
  readonly leases: LeaseStore;
  readonly checkpoints: (projection: string) => CheckpointStore;
}

/** What is changed of the ports; called for each store that is opened. */
export type Change = (disk: Disk) => {
  readonly [Port in Exclude<keyof Ports, 'checkpoints'>]?: Partial<Ports[Port]>;
} & Partial<Pick<Ports, 'checkpoints'>>;

/** What is wrong with a place and the stores on it. */
export interface PlaceFaults {
  readonly change?: Change;
  /** What a store finds of an event that was recorded before it was opened. */
  readonly reloaded?: (recorded: StoredEvent) => StoredEvent;
  /** A call to a closed store. */
  readonly whenClosed?: <T>(call: () => Promise<T>) => Promise<T>;
  /** The result of a call whose reply was lost. An append can be repeated with another commit id. */
  readonly whenLost?: <T>(operation: 'read' | 'append', repeat: (commit: string) => Promise<T>) => Promise<T>;
}

/** Where simulated stores keep what they store. Without faults, they satisfy all contracts with all their options. */
export class SimulatedPlace {
  readonly #disk = new Disk();
  readonly #faults: PlaceFaults;
  #losesReply = false;

  constructor(broken: Change | PlaceFaults = {}) {
    this.#faults = typeof broken === 'function' ? { change: broken } : broken;
  }

  readonly options: Partial<ContractOptions> = {
    durable: true,
    shared: true,
    loseReply: () => void (this.#losesReply = true),
    loseEvents: (stream) => this.#disk.loseEvents(stream),
  };

  readonly open = async (): Promise<OpenStore & Ports> => {
    const { change, reloaded, whenClosed = unavailable, whenLost = faultOf } = this.#faults;
    if (reloaded) await this.#disk.reload(reloaded);
    const disk = this.#disk;
    const changed = change?.(disk) ?? {};
    let closed = false;
    const whileOpen = <Port extends object>(port: Port): Port => {
      const methods = Object.entries(port).map(([name, method]) => [
        name,
        (...args: unknown[]): unknown => {
          const call = () => (method as (...args: unknown[]) => unknown)(...args);
          return closed ? whenClosed(call as () => Promise<unknown>) : call();
        },
      ]);
      return Object.fromEntries(methods) as Port;
    };
    const { read, append } = whileOpen<EventStore>({
      read: disk.read.bind(disk),
      append: disk.append.bind(disk),
      ...changed.store,
    });
    /** `result`, or a fault if its reply is lost. */
    const replied = async <T>(
      operation: 'read' | 'append',
      result: T,
      repeat: (commit: string) => Promise<T>,
    ): Promise<T> => {
      if (!this.#losesReply) return result;
      this.#losesReply = false;
      return whenLost(operation, repeat);
    };
    return {
      store: {
        read: async (...args) => replied('read', await read(...args), () => read(...args)),
        append: async (stream, expected, commit, events) =>
          replied('append', await append(stream, expected, commit, events), (another) =>
            append(stream, expected, another, events),
          ),
      },
      feed: {
        ...{ buckets: disk.feed.buckets, bucketOf: disk.feed.bucketOf },
        ...whileOpen(methodsOf(disk.feed)),
        ...(changed.feed && whileOpen(changed.feed)),
      },
      catalogue: whileOpen({
        streams: disk.streams.bind(disk),
        find: disk.find.bind(disk),
        erase: disk.erase.bind(disk),
        ...changed.catalogue,
      }),
      snapshots: whileOpen({
        load: (stream: StreamName) => disk.snapshots.load(stream),
        save: (stream: StreamName, snapshot: Snapshot) => disk.snapshots.save(stream, snapshot),
        loadBase: (stream: StreamName) => disk.snapshots.loadBase(stream),
        ...changed.snapshots,
      }),
      archive: whileOpen({
        saveBase: disk.saveBase.bind(disk),
        trim: disk.trim.bind(disk),
        bytes: disk.bytes.bind(disk),
        ...changed.archive,
      }),
      leases: whileOpen({
        load: (name: string) => disk.leases.load(name),
        save: (...args: Parameters<LeaseStore['save']>) => disk.leases.save(...args),
        projections: () => disk.leases.projections(),
        ...changed.leases,
      }),
      checkpoints(projection) {
        const store = changed.checkpoints?.(projection) ?? disk.checkpoints(projection);
        return whileOpen<CheckpointStore>({
          load: (keys) => store.load(keys),
          keys: (prefix) => store.keys(prefix),
          save: (write) => store.save(write),
        });
      },
      close: () => void (closed = true),
    };
  };
}

/** Opens stores on a place of their own. */
export function openOn(broken?: Change | PlaceFaults): SimulatedPlace['open'] {
  return new SimulatedPlace(broken).open;
}

function unavailable(): never {
  throw new StoreUnavailable('it was closed');
}

async function faultOf(operation: 'read' | 'append'): Promise<never> {
  throw operation === 'append' ? new OutcomeUnknown() : new StoreUnavailable();
}

/** The methods of a feed of one bucket. */
export function methodsOf(feed: MemoryFeed) {
  return {
    read: feed.read.bind(feed),
    end: feed.end.bind(feed),
    notify: feed.notify.bind(feed),
  };
}

/** A change that remembers names of streams, for each store that is opened. */
export function remembering(change: (disk: Disk, seen: Set<StreamName>) => ReturnType<Change>): Change {
  return (disk) => change(disk, new Set());
}

/** `stream`, which is remembered. */
export function noted(seen: Set<StreamName>, stream: StreamName): StreamName {
  seen.add(stream);
  return stream;
}
