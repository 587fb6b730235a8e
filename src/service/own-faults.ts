import {
  BrokenSnapshot,
  CheckpointConflict,
  type CheckpointStore,
  type EventStore,
  type Feed,
  type LeaseStore,
  type OpenEventStore,
  OutcomeUnknown,
  StoreUnavailable,
  UNAVAILABLE_REASONS,
  type SnapshotStore,
  type StoredSnapshot,
  type StreamArchive,
  type StreamCatalogue,
  UnreadableHistory,
} from '../event-sourcing';

/**
 * `opened`, with each fault replaced by that of this package. The store may use another copy of the package, or none, so
 * its faults are recognized by their names.
 */
export function withOwnFaults(opened: OpenEventStore): AllMembers<OpenEventStore> {
  const { store, catalogue, snapshots, archive, feed, leases, checkpoints } = opened;
  return {
    store: {
      read: (...args) => rejectingWithOwn(() => store.read(...args)),
      append: (...args) => rejectingWithOwn(() => store.append(...args)),
      notify: store.notify && ((...args) => store.notify!(...args)),
    } satisfies AllMembers<EventStore>,
    catalogue:
      catalogue &&
      ({
        streams: () => throwingOwn(() => catalogue.streams()),
        find: (stream) => rejectingWithOwn(() => catalogue.find(stream)),
        erase: (stream) => rejectingWithOwn(() => catalogue.erase(stream)),
      } satisfies AllMembers<StreamCatalogue>),
    snapshots:
      snapshots &&
      ({
        load: async (stream) => withOwnChunks(await rejectingWithOwn(() => snapshots.load(stream))),
        loadBase:
          snapshots.loadBase &&
          (async (stream) => withOwnChunks(await rejectingWithOwn(() => snapshots.loadBase!(stream)))),
        save: (...args) => rejectingWithOwn(() => snapshots.save(...args)),
      } satisfies AllMembers<SnapshotStore>),
    archive:
      archive &&
      ({
        saveBase: (stream, base, replaced, check) =>
          rejectingWithOwn(() =>
            archive.saveBase(stream, base, replaced, (stored) => check(withOwnChunks(stored)!)),
          ),
        trim: (...args) => rejectingWithOwn(() => archive.trim(...args)),
        bytes: (stream) => rejectingWithOwn(() => archive.bytes(stream)),
      } satisfies AllMembers<StreamArchive>),
    feed:
      feed &&
      ({
        buckets: feed.buckets,
        bucketOf: (stream) => feed.bucketOf(stream),
        read: (...args) => rejectingWithOwn(() => feed.read(...args)),
        end: (bucket) => rejectingWithOwn(() => feed.end(bucket)),
        notify: feed.notify && ((...args) => feed.notify!(...args)),
      } satisfies AllMembers<Feed>),
    leases:
      leases &&
      ({
        load: (projection) => rejectingWithOwn(() => leases.load(projection)),
        save: (...args) => rejectingWithOwn(() => leases.save(...args)),
        projections: () => rejectingWithOwn(() => leases.projections()),
      } satisfies AllMembers<LeaseStore>),
    checkpoints:
      checkpoints &&
      ((projection) => {
        const own = checkpoints(projection);
        return {
          load: (keys) => rejectingWithOwn(async () => own.load(keys)),
          keys: (prefix) => throwingOwn(() => own.keys(prefix)),
          save: (write) => rejectingWithOwn(() => own.save(write)),
        } satisfies AllMembers<CheckpointStore>;
      }),
    mintCommit: opened.mintCommit && (() => opened.mintCommit!()),
    check: async () => opened.check(),
    status: opened.status && (() => opened.status!()),
    close: async () => opened.close(),
  };
}

/** `Port` with each optional member named: the compiler refuses a wrapper that forgets one. */
type AllMembers<Port> = { readonly [Name in keyof Required<Port>]: Port[Name] };

function withOwnChunks<S extends StoredSnapshot>(snapshot: S | undefined): S | undefined {
  return snapshot && { ...snapshot, chunks: throwingOwn(() => snapshot.chunks) };
}

const FAULTS = [StoreUnavailable, OutcomeUnknown, UnreadableHistory, BrokenSnapshot, CheckpointConflict];

/** The fault of this package with the name of `error`; `error` itself if there is none. */
export function ownFault(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  const Own = FAULTS.find(({ name }) => name === error.name);
  if (Own === undefined || error instanceof Own) return error;
  const { retryAfterMs, reason } = error as Partial<StoreUnavailable>;
  const known = reason && UNAVAILABLE_REASONS.includes(reason) ? { reason } : {};
  return new Own(error.message, { cause: error, retryAfterMs, ...known });
}

async function rejectingWithOwn<T>(call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    throw ownFault(error);
  }
}

async function* throwingOwn<T>(iterable: () => AsyncIterable<T> | Iterable<T>): AsyncGenerator<T> {
  try {
    yield* iterable();
  } catch (error) {
    throw ownFault(error);
  }
}
