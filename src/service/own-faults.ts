import {
  BrokenSnapshot,
  type OpenEventStore,
  OutcomeUnknown,
  StoreUnavailable,
  UNAVAILABLE_REASONS,
  type StoredSnapshot,
  UnreadableHistory,
} from '../event-sourcing';

/**
 * `opened`, with each fault replaced by that of this package. The store may use another copy of the package, or none, so
 * its faults are recognized by their names.
 */
export function withOwnFaults<Event>(opened: OpenEventStore<Event>): OpenEventStore<Event> {
  const { store, catalogue, snapshots, archive } = opened;
  return {
    store: {
      read: (stream, after) => rejectingWithOwn(() => store.read(stream, after)),
      append: (stream, expected, commit, events) =>
        rejectingWithOwn(() => store.append(stream, expected, commit, events)),
      notify: store.notify && ((...args) => store.notify!(...args)),
    },
    catalogue: catalogue && {
      streams: () => throwingOwn(() => catalogue.streams()),
      find: (stream) => rejectingWithOwn(() => catalogue.find(stream)),
      erase: (stream) => rejectingWithOwn(() => catalogue.erase(stream)),
    },
    snapshots: snapshots && {
      load: async (stream) => withOwnChunks(await rejectingWithOwn(() => snapshots.load(stream))),
      ...(snapshots.loadBase && {
        loadBase: async (stream) => withOwnChunks(await rejectingWithOwn(() => snapshots.loadBase!(stream))),
      }),
      save: (stream, snapshot) => rejectingWithOwn(() => snapshots.save(stream, snapshot)),
    },
    archive: archive && {
      saveBase: (stream, base, replaced, check) =>
        rejectingWithOwn(() =>
          archive.saveBase(stream, base, replaced, (stored) => check(withOwnChunks(stored)!)),
        ),
      trim: (stream, head) => rejectingWithOwn(() => archive.trim(stream, head)),
      bytes: (stream) => rejectingWithOwn(() => archive.bytes(stream)),
    },
    mintCommit: opened.mintCommit && (() => opened.mintCommit!()),
    check: async () => opened.check(),
    status: opened.status && (() => opened.status!()),
    close: async () => opened.close(),
  };
}

function withOwnChunks<S extends StoredSnapshot>(snapshot: S | undefined): S | undefined {
  return snapshot && { ...snapshot, chunks: throwingOwn(() => snapshot.chunks) };
}

const FAULTS = [StoreUnavailable, OutcomeUnknown, UnreadableHistory, BrokenSnapshot];

/** The fault of this package with the name of `error`; `error` itself if there is none. */
export function ownFault(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  const Own = FAULTS.find(({ name }) => name === error.name);
  if (Own === undefined || error instanceof Own) return error;
  const { retryAfterMs, reason } = error as Partial<StoreUnavailable>;
  const known = reason !== undefined && UNAVAILABLE_REASONS.includes(reason) ? { reason } : {};
  return new Own(error.message, { cause: error, retryAfterMs, ...known });
}

async function rejectingWithOwn<T>(call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    throw ownFault(error);
  }
}

async function* throwingOwn<T>(iterable: () => AsyncIterable<T>): AsyncGenerator<T> {
  try {
    yield* iterable();
  } catch (error) {
    throw ownFault(error);
  }
}
