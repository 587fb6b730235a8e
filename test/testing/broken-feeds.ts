import { setImmediate as turn } from 'node:timers/promises';
import { MemoryEventStore } from '../../src/adapters/memory';
import {
  type EventStore,
  FEED_BEGINNING,
  type Feed,
  type FeedEntry,
  type FeedReadResult,
  StoreUnavailable,
  type StreamCatalogue,
} from '../../src/event-sourcing';
import type { OpenStore } from '../../src/testing';

export const FEED_LENGTH = 200;

interface Memory {
  readonly store: MemoryEventStore;
  readonly feed: Feed;
  /** The feed of a store, which is closed with this one. */
  readonly whileOpen: (store: MemoryEventStore) => Feed;
  readonly isClosed: () => boolean;
}

interface Changed {
  readonly store?: Partial<EventStore>;
  readonly feed?: Partial<Feed>;
  readonly catalogue?: Partial<StreamCatalogue>;
}

/** A memory store that can be closed, with some of its methods replaced. */
export function feedOf(change: (memory: Memory) => Changed = () => ({})): () => OpenStore {
  return () => {
    const memory = new MemoryEventStore(3, FEED_LENGTH);
    let closed = false;
    const whileOpen = ({ feed }: MemoryEventStore): Feed => ({
      buckets: 1,
      bucketOf: () => 0,
      read: async (...args) => (closed ? unavailable() : feed.read(...args)),
      end: async () => (closed ? unavailable() : feed.end()),
      notify: (...args) => feed.notify(...args),
    });
    const feed = whileOpen(memory);
    const changed = change({ store: memory, feed, whileOpen, isClosed: () => closed });
    return {
      store: {
        read: async (...args) => (closed ? unavailable() : memory.read(...args)),
        append: async (...args) => {
          if (closed) return unavailable();
          return (changed.store?.append ?? memory.append.bind(memory))(...args);
        },
      },
      feed: { ...feed, ...changed.feed },
      catalogue: {
        streams: () => memory.streams(),
        find: (stream) => memory.find(stream),
        erase: (stream) => memory.erase(stream),
        ...changed.catalogue,
      },
      close: () => void (closed = true),
    };
  };
}

function unavailable(): never {
  throw new StoreUnavailable('it was closed');
}

/** Changes each page that is read. */
function reading(change: (result: FeedReadResult) => FeedReadResult): () => OpenStore {
  return feedOf(({ feed }) => ({ feed: { read: async (...args) => change(await feed.read(...args)) } }));
}

interface Attempt {
  readonly write: () => ReturnType<EventStore['append']>;
  /** Adds an entry, unless the commit has one. */
  readonly add: (sequence?: number) => void;
  readonly addAgain: () => void;
  readonly next: () => number;
}

/** A store whose feed is a list of its own, which is neither trimmed nor erased. */
function listing(append: (attempt: Attempt) => ReturnType<EventStore['append']>): () => OpenStore {
  return feedOf(({ store, isClosed }) => {
    const list: FeedEntry[] = [];
    let last = 0;
    const next = () => ++last;
    return {
      store: {
        append(stream, expected, commit, events) {
          const addAgain = (sequence = next()) => {
            list.push({ sequence, commit, stream, version: expected.version + events.length });
            list.sort((one, other) => one.sequence - other.sequence);
          };
          return append({
            write: () => store.append(stream, expected, commit, events),
            add: (sequence) => list.some((entry) => entry.commit === commit) || addAgain(sequence),
            addAgain,
            next,
          });
        },
      },
      feed: {
        async read(_bucket, [after, ...older], limit = 100) {
          if (isClosed()) return unavailable();
          const has = ({ sequence, commit }: typeof after) =>
            sequence === 0
              ? commit === ''
              : list.some((each) => each.sequence === sequence && each.commit === commit);
          if (!has(after)) return { status: 'reset', shared: older.find(has) };
          const entries = list.filter(({ sequence }) => sequence > after.sequence);
          return { status: 'read', entries: entries.slice(0, limit), more: entries.length > limit };
        },
        async end() {
          if (isClosed()) return unavailable();
          const { sequence, commit } = list.at(-1) ?? FEED_BEGINNING;
          return { sequence, commit };
        },
      },
    };
  });
}

/** Stores that each violate one guarantee about the entries of a feed. */
export const BROKEN_ENTRIES: Readonly<Record<string, () => OpenStore>> = {
  'assigns sequence numbers before the commit': listing(async ({ write, add, next }) => {
    const sequence = next();
    for (let turns = sequence % 5; turns > 0; turns--) await turn();
    const result = await write();
    if (result.status === 'appended') add(sequence);
    return result;
  }),
  'adds an entry before its events': listing(async ({ write, add }) => {
    add();
    await turn();
    return write();
  }),
  'adds an entry after the append was acknowledged': listing(async ({ write, add }) => {
    const result = await write();
    if (result.status === 'appended') setImmediate(add);
    return result;
  }),
  'adds an entry for each attempt of an append': listing(async ({ write, addAgain }) => {
    const result = await write();
    if (result.status === 'appended') addAgain();
    return result;
  }),
  'adds an entry for a conflict': listing(async ({ write, add }) => {
    const result = await write();
    if (result.status === 'conflict') add();
    return result;
  }),
};

/** Stores that each violate one other guarantee of a feed. */
export const BROKEN_FEEDS: Readonly<Record<string, () => OpenStore>> = {
  'names the version before the append': reading((result) =>
    result.status === 'read'
      ? { ...result, entries: result.entries.map((entry) => ({ ...entry, version: entry.version - 1 })) }
      : result,
  ),
  'never sets `more` in its feed': reading((result) =>
    result.status === 'read' ? { ...result, more: false } : result,
  ),
  'names no shared position': reading((result) =>
    result.status === 'reset' ? { ...result, shared: undefined } : result,
  ),
  'says `reset` where it was trimmed': reading((result) =>
    result.status === 'trimmed' ? { status: 'reset', shared: undefined } : result,
  ),
  'skips entries that were trimmed': reading((result) =>
    result.status === 'trimmed' ? { status: 'read', entries: [], more: false } : result,
  ),
  'names the oldest shared position': feedOf(({ feed }) => ({
    feed: {
      async read(bucket, trail, limit) {
        const result = await feed.read(bucket, trail, limit);
        if (result.status !== 'reset') return result;
        return { ...result, shared: result.shared && trail.at(-1) };
      },
    },
  })),
  'does not compare commits of positions': feedOf(({ store }) => {
    const commits = [''];
    return {
      store: {
        async append(...args) {
          const before = await store.feed.end();
          const result = await store.append(...args);
          const { sequence, commit } = await store.feed.end();
          if (sequence > before.sequence) commits[sequence] = commit;
          return result;
        },
      },
      feed: {
        read: (bucket, trail, limit) => {
          const known = trail.map(({ sequence, commit }) => ({
            sequence,
            commit: commits[sequence] ?? commit,
          }));
          return store.feed.read(bucket, known as unknown as typeof trail, limit);
        },
      },
    };
  }),
  'ignores the limit of a page of the feed': feedOf(({ feed }) => ({
    feed: { read: (bucket, trail) => feed.read(bucket, trail) },
  })),
  'keeps fewer entries than it says': feedOf(({ whileOpen }) => {
    const short = new MemoryEventStore(3, FEED_LENGTH / 4);
    return {
      store: { append: (...args) => short.append(...args) },
      feed: whileOpen(short),
      catalogue: { erase: (stream) => short.erase(stream) },
    };
  }),
  'keeps the entries of an erased stream': feedOf(({ store, whileOpen }) => {
    const kept = new MemoryEventStore(3, FEED_LENGTH);
    return {
      store: {
        async append(...args) {
          await kept.append(...args);
          return store.append(...args);
        },
      },
      feed: whileOpen(kept),
    };
  }),
  'forgets the positions of an erased stream': feedOf(({ store, feed }) => {
    const erased = new Set<number>();
    return {
      catalogue: {
        async erase(stream) {
          const page = await store.feed.read(0, [FEED_BEGINNING], 1000);
          for (const entry of page.status === 'read' ? page.entries : [])
            if (entry.stream === stream) erased.add(entry.sequence);
          return store.erase(stream);
        },
      },
      feed: {
        read: async (bucket, trail, limit) =>
          erased.has(trail[0].sequence)
            ? { status: 'reset', shared: undefined }
            : feed.read(bucket, trail, limit),
      },
    };
  }),
  'never notifies of a commit': feedOf(() => ({ feed: { notify: () => () => {} } })),
  'notifies after a cancellation': feedOf(({ feed }) => ({
    feed: {
      notify: (...args) => {
        feed.notify!(...args);
        return () => {};
      },
    },
  })),
  'does not notify of earlier commits': feedOf(({ store }) => ({
    feed: {
      notify(bucket, _after, changed) {
        let cancel = () => {};
        void store.feed.end().then((end) => (cancel = store.feed.notify(bucket, end, changed)));
        return () => cancel();
      },
    },
  })),
  'reads its feed after it was closed': feedOf(({ store }) => ({
    feed: { read: (...args) => store.feed.read(...args) },
  })),
};
