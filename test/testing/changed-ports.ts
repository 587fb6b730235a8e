/** Places in memory with all ports of a store, of which some are changed. */
import {
  type CheckpointStore,
  type LeaseStore,
  type Snapshot,
  type SnapshotStore,
  StoreUnavailable,
  type StreamArchive,
  type StreamCatalogue,
  type StreamName,
} from '../../src/event-sourcing';
import type { OpenStore } from '../../src/testing';
import { Disk, type PlaceStore } from './simulated-place';

interface Ports {
  readonly store: PlaceStore;
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

/** Opens stores on one place, with the changes. */
export function openOn(
  change: Change = () => ({}),
  answersClosed = false,
): () => OpenStore & Ports & Pick<Disk, 'feed'> {
  const disk = new Disk();
  return () => {
    let closed = false;
    const changed = change(disk);
    const whileOpen = <Port extends object>(port: Port): Port => {
      const methods = Object.entries(port).map(([name, method]) => [
        name,
        (...args: unknown[]): unknown => {
          if (closed && !answersClosed) throw new StoreUnavailable('it was closed');
          return (method as (...args: unknown[]) => unknown)(...args);
        },
      ]);
      return Object.fromEntries(methods) as Port;
    };
    return {
      store: whileOpen({ read: disk.read.bind(disk), append: disk.append.bind(disk), ...changed.store }),
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
      feed: disk.feed,
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

/** A change that remembers names of streams, for each store that is opened. */
export function remembering(change: (disk: Disk, seen: Set<StreamName>) => ReturnType<Change>): Change {
  return (disk) => change(disk, new Set());
}

/** `stream`, which is remembered. */
export function noted(seen: Set<StreamName>, stream: StreamName): StreamName {
  seen.add(stream);
  return stream;
}
