import { setImmediate as turn } from 'node:timers/promises';
import { MemoryEventStore } from '../../src/adapters/memory';
import {
  type EventStore,
  FEED_BEGINNING,
  type FeedEntry,
  type FeedReadResult,
} from '../../src/event-sourcing';
import { FEED_LENGTH } from './disk';
import { type Change, type PlaceFaults, methodsOf } from './simulated-place';

/** Changes each page that is read. */
function reading(change: (result: FeedReadResult) => FeedReadResult): Change {
  return ({ feed }) => ({ feed: { read: async (...args) => change(await feed.read(...args)) } });
}

interface Attempt {
  readonly write: () => ReturnType<EventStore['append']>;
  /** Adds an entry, unless the commit has one. */
  readonly add: (sequence?: number) => void;
  readonly addAgain: () => void;
  readonly next: () => number;
}

/** A store whose feed is a list of its own, which is neither trimmed nor erased. */
function listing(append: (attempt: Attempt) => ReturnType<EventStore['append']>): Change {
  return (disk) => {
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
            write: () => disk.append(stream, expected, commit, events),
            add: (sequence) => list.some((entry) => entry.commit === commit) || addAgain(sequence),
            addAgain,
            next,
          });
        },
      },
      feed: {
        async read(_bucket, [after, ...older], limit = 100) {
          const has = ({ sequence, commit }: typeof after) =>
            sequence === 0
              ? commit === ''
              : list.some((each) => each.sequence === sequence && each.commit === commit);
          if (!has(after)) return { status: 'reset', shared: older.find(has) };
          const entries = list.filter(({ sequence }) => sequence > after.sequence);
          return { status: 'read', entries: entries.slice(0, limit), more: entries.length > limit };
        },
        async end() {
          const { sequence, commit } = list.at(-1) ?? FEED_BEGINNING;
          return { sequence, commit };
        },
      },
    };
  };
}

/** Each violates one guarantee about the entries of a feed. */
export const BROKEN_ENTRIES: Readonly<Record<string, Change>> = {
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

/** Each violates one other guarantee of a feed. */
export const BROKEN_FEEDS: Readonly<Record<string, Change | PlaceFaults>> = {
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
  'names the oldest shared position': ({ feed }) => ({
    feed: {
      async read(bucket, trail, limit) {
        const result = await feed.read(bucket, trail, limit);
        if (result.status !== 'reset') return result;
        return { ...result, shared: result.shared && trail.at(-1) };
      },
    },
  }),
  'does not compare commits of positions': (disk) => {
    const commits = [''];
    return {
      store: {
        async append(...args) {
          const before = await disk.feed.end();
          const result = await disk.append(...args);
          const { sequence, commit } = await disk.feed.end();
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
          return disk.feed.read(bucket, known as unknown as typeof trail, limit);
        },
      },
    };
  },
  'ignores the limit of a page of the feed': ({ feed }) => ({
    feed: { read: (bucket, trail) => feed.read(bucket, trail) },
  }),
  'keeps fewer entries than it says': () => {
    const short = new MemoryEventStore(3, FEED_LENGTH / 4);
    return {
      store: { append: (...args) => short.append(...args) },
      feed: methodsOf(short.feed),
      catalogue: { erase: (stream) => short.erase(stream) },
    };
  },
  'keeps the entries of an erased stream': (disk) => {
    const kept = new MemoryEventStore(3, FEED_LENGTH);
    return {
      store: {
        async append(...args) {
          await kept.append(...args);
          return disk.append(...args);
        },
      },
      feed: methodsOf(kept.feed),
    };
  },
  'forgets the positions of an erased stream': (disk) => {
    const erased = new Set<number>();
    return {
      catalogue: {
        async erase(stream) {
          const page = await disk.feed.read(0, [FEED_BEGINNING], 1000);
          for (const entry of page.status === 'read' ? page.entries : [])
            if (entry.stream === stream) erased.add(entry.sequence);
          return disk.erase(stream);
        },
      },
      feed: {
        read: async (bucket, trail, limit) =>
          erased.has(trail[0].sequence)
            ? { status: 'reset', shared: undefined }
            : disk.feed.read(bucket, trail, limit),
      },
    };
  },
  'never notifies of a commit': () => ({ feed: { notify: () => () => {} } }),
  'notifies after a cancellation': ({ feed }) => ({
    feed: {
      notify: (...args) => {
        feed.notify(...args);
        return () => {};
      },
    },
  }),
  'does not notify of earlier commits': (disk) => ({
    feed: {
      notify(bucket, _after, changed) {
        let cancel = () => {};
        void disk.feed.end().then((end) => (cancel = disk.feed.notify(bucket, end, changed)));
        return () => cancel();
      },
    },
  }),
  'reads its feed after it was closed': { whenClosed: (call) => call() },
};
