import { setImmediate as turn } from 'node:timers/promises';
import { MemoryEventStore } from '../../src/adapters/memory';
import {
  BEGINNING,
  type EncodedEvent,
  type EventStore,
  OutcomeUnknown,
  StoreUnavailable,
  headOf,
} from '../../src/event-sourcing';
import { nextCommit } from '../../src/testing/a-stream';
import { asJson, changed, inLatin1, withoutEmptyData } from './changed-stores';
import { PAGE_SIZE, wholeHistory } from './disk';
import type { Change, PlaceFaults } from './simulated-place';

/** Faults that show only if two stores are open on one place, or if a store is reopened or closed, or loses a reply. */
export const BROKEN_PLACES: Readonly<Record<string, Change | PlaceFaults>> = {
  'locks an append within one instance only': changed((disk) => {
    let lastAppend: Promise<unknown> = Promise.resolve();
    return {
      append(stream, expected, commit, events) {
        const result = lastAppend.then(async () => {
          const newer = await disk.read(stream, expected);
          await turn();
          const isNew = newer.status === 'read' && newer.events.length === 0;
          if (!isNew || events.length === 0) return disk.append(stream, expected, commit, events);
          // By now another instance may have appended.
          const last = (await wholeHistory(disk, stream)).at(-1) ?? BEGINNING;
          await disk.append(stream, headOf(last), commit, events);
          const version = expected.version + events.length;
          return { status: 'appended', head: { version, commit } } as const;
        });
        lastAppend = result.catch(() => {});
        return result;
      },
    };
  }),
  'remembers histories per instance': changed((disk) => remembering(disk, 'for ever')),
  'remembers histories per instance, and reads them again after a conflict': changed((disk) =>
    remembering(disk, 'until a conflict'),
  ),
  'recognizes only the repeated appends of the same instance': changed((disk) => {
    const own = new Set<string>();
    return {
      async append(stream, expected, commit, events) {
        const newer = await disk.read(stream, expected);
        if (newer.status === 'read' && newer.events[0]?.commit === commit && !own.has(commit))
          return { ...newer, status: 'conflict' };
        own.add(commit);
        return disk.append(stream, expected, commit, events);
      },
    };
  }),

  'parses JSON when it is reopened': { reloaded: changedEvent(asJson) },
  'drops empty texts when it is reopened': { reloaded: changedEvent(withoutEmptyData) },
  'reads text as latin1 when it is reopened': { reloaded: changedEvent(inLatin1) },
  'cuts commit ids at 36 characters when it is reopened': {
    reloaded: (recorded) => ({ ...recorded, commit: recorded.commit.slice(0, 36) }),
  },

  'acknowledges appends after it was closed': { whenClosed: (call) => call() },
  'records appends after it was closed, and rejects': {
    async whenClosed(call) {
      await call();
      throw new StoreUnavailable('it was closed');
    },
  },
  'throws the error of its driver after it was closed': {
    whenClosed: () => Promise.reject(new TypeError('Cannot use a pool after calling end on the pool')),
  },

  'reads an archived stream whose events were deleted as an empty one': changed((disk) => ({
    read: (...args) => disk.read(...args).catch(() => ({ status: 'read', events: [], more: false })),
  })),
  'appends to an archived stream whose events were deleted': changed((disk) => ({
    append: (...args) =>
      disk.append(...args).catch(() => ({ status: 'appended', head: { version: 1, commit: args[2] } })),
  })),
  'takes archived events for lost ones': changed((disk) => ({
    read: (...args) =>
      disk.read(...args).then((result) => (result.status === 'archived' ? { status: 'reset' } : result)),
  })),

  'reports a lost reply as unavailable': { whenLost: () => Promise.reject(new StoreUnavailable()) },
  'reports a lost reply to a read as an unknown outcome': {
    whenLost: () => Promise.reject(new OutcomeUnknown()),
  },
  'throws the error of its driver when a reply is lost': {
    whenLost: () => Promise.reject(new Error('ECONNRESET')),
  },
  'repeats an append whose reply was lost, with another commit id': {
    whenLost: (_, repeat) => repeat(nextCommit()),
  },
};

function changedEvent(change: (event: EncodedEvent) => EncodedEvent): NonNullable<PlaceFaults['reloaded']> {
  return (recorded) => ({ ...recorded, ...change(recorded) });
}

/** A store that reads each history from the disk once, and then knows only its own appends. */
function remembering(disk: EventStore, until: 'for ever' | 'until a conflict'): EventStore {
  const memory = new MemoryEventStore(PAGE_SIZE);
  return {
    async read(stream, after) {
      if ((await memory.find(stream)) === undefined) {
        for (const { version, commit, ...event } of await wholeHistory(disk, stream)) {
          const last = (await wholeHistory(memory, stream)).at(-1) ?? BEGINNING;
          if (last.version < version) await memory.append(stream, headOf(last), commit, [event]);
        }
      }
      return memory.read(stream, after);
    },
    async append(stream, expected, commit, events) {
      const result = await disk.append(stream, expected, commit, events);
      if (result.status === 'appended') await memory.append(stream, expected, commit, events);
      if (result.status === 'conflict' && until === 'until a conflict') await memory.erase(stream);
      return result;
    },
  };
}
