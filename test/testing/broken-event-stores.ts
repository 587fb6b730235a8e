import { setImmediate as turn } from 'node:timers/promises';
import {
  type AppendResult,
  BEGINNING,
  type EncodedEvent,
  type EventStore,
  type Head,
  OutcomeUnknown,
  type ReadResult,
  StoreUnavailable,
  type StoredEvent,
  type StreamName,
  headOf,
} from '../../src/event-sourcing';
import { type Fault, PAGE_SIZE, Place } from './place';

/** By a part of the names of the cases that must find it, and what such a store does. */
export type Faults = Readonly<Record<`${string} / ${string}`, Fault>>;

type Read = Extract<ReadResult, { readonly status: 'read' }>;

const storing =
  (change: (place: Place, events: EventStore) => Partial<EventStore>): Fault =>
  (place) => ({ store: change(place, place.events) });

/** Changes the events of each append. */
const appending = (change: (events: readonly EncodedEvent[]) => readonly EncodedEvent[]): Fault =>
  storing((_, store) => ({
    append: (stream, expected, commit, events) => store.append(stream, expected, commit, change(events)),
  }));

/** Changes the text of each event. */
const recording = (change: (data: string) => string): Fault =>
  appending((events) => events.map(({ type, data }) => ({ type, data: change(data) })));

/** Changes members of each page. */
const reading = (change: (page: Read, after: Head) => Partial<Read>): Fault =>
  storing((_, store) => ({
    async read(stream, after) {
      const page = await store.read(stream, after);
      return page.status === 'read' ? { ...page, ...change(page, after) } : page;
    },
  }));

/** Changes the commit id of each append. */
const committing = (change: (commit: string) => string): Fault =>
  storing((_, store) => ({
    append: (stream, expected, commit, events) => store.append(stream, expected, change(commit), events),
  }));

const naming = (change: (stream: string) => string): Fault =>
  storing((_, store) => ({
    read: (stream, after) => store.read(change(stream) as StreamName, after),
    append: (stream, ...rest) => store.append(change(stream) as StreamName, ...rest),
  }));

const pageOf = (events: readonly StoredEvent[]): Read => ({
  status: 'read',
  events: events.slice(0, PAGE_SIZE),
  more: events.length > PAGE_SIZE,
});

const checkingBefore = storing((place, store) => ({
  async append(...append) {
    const [stream, expected, commit, events] = append;
    const page = await store.read(stream, expected);
    await turn();
    if (page.status !== 'read' || page.events.length > 0) return store.append(...append);
    // By now another append may have been made.
    await store.append(stream, headOf((await place.history(stream)).at(-1) ?? BEGINNING), commit, events);
    return { status: 'appended', head: { version: expected.version + events.length, commit } };
  },
}));

const writingOneByOne = storing((_, store) => ({
  async append(stream, expected, commit, events) {
    let result: AppendResult = { status: 'reset' };
    for (const [index, event] of events.entries()) {
      const head = index === 0 ? expected : { version: expected.version + index, commit };
      result = await store.append(stream, head, commit, [event]);
      await turn();
    }
    return result;
  },
}));

const readingLate: Fault = (place) => {
  const known = new Set<string>();
  return reading((page, { version, commit }) => {
    const isLate = version > 0 && !known.has(commit);
    known.add(commit);
    return isLate ? pageOf([]) : page;
  })(place);
};

const recordingConflicts = storing((place, store) => ({
  async append(stream, expected, commit, events) {
    const result = await store.append(stream, expected, commit, events);
    const last = (await place.history(stream)).at(-1);
    if (result.status === 'conflict') await store.append(stream, headOf(last!), commit, events);
    return result;
  },
}));

const keepingObjects: Fault = (place) => {
  const kept = new Map<string, EncodedEvent>();
  const { store } = reading(({ events }) => ({
    events: events.map((event) => ({ ...event, ...kept.get(event.commit) })),
  }))(place);
  const append: EventStore['append'] = (stream, expected, commit, events) => {
    kept.set(commit, events[0]!);
    return place.events.append(stream, expected, commit, events);
  };
  return { store: { ...store, append } };
};

const recognizingTheLast = storing((place, store) => ({
  async append(stream, expected, commit, events) {
    const newer = (await place.history(stream)).slice(expected.version);
    const isLast = newer.every((event) => event.commit === commit);
    return store.append(stream, expected, isLast ? commit : `${commit} again`, events);
  },
}));

const comparingNormalForms = storing((place, store) => ({
  async read(stream, { version, commit }) {
    const recorded = (await place.history(stream))[version - 1]?.commit;
    const isEqual = recorded?.normalize() === commit.normalize();
    return store.read(stream, { version, commit: isEqual ? recorded : commit });
  },
}));

const apart: Fault = () => ({ store: new Place().events });
export const neverUnknown: Fault = () => ({ lost: new StoreUnavailable() });
export const alwaysUnknown: Fault = () => ({ lost: new OutcomeUnknown() });

/** Stores that violate a guarantee. Each bug of a store that was ever found belongs here. */
export const BROKEN_EVENT_STORES: Faults = {
  'an append is recorded as one commit, copied exactly / keeps the objects of its caller': keepingObjects,
  'an append of 1,024 events / records only the first 50 events': appending((events) => events.slice(0, 50)),
  'an append without an event / accepts an append without events': storing((_, store) => ({
    append: async (...append) =>
      append[3].length === 0 ? { status: 'appended', head: append[1] } : store.append(...append),
  })),
  'a conflict has all newer events / records an append that conflicts': recordingConflicts,
  'a repeated append has the same result / recognizes an append only while it is the last':
    recognizingTheLast,
  'at an unknown head result in a reset / does not compare commits when it reads': storing((place) => ({
    read: async (stream, { version }) => pageOf((await place.history(stream)).slice(version)),
  })),
  'a commit id is read as it was appended / cuts it at 36 characters': committing((id) => id.slice(0, 36)),
  'a commit id is no other one / compares commit ids in a normal form': comparingNormalForms,
  'a read continues after any event / never sets `more`': reading(() => ({ more: false })),
  'a read has a result that later appends do not change / returns a result that changes later': storing(
    (place) => {
      const events: StoredEvent[] = [];
      const read = async (stream: StreamName) => void events.splice(0, 99, ...(await place.history(stream)));
      return { read: (stream) => read(stream).then(() => ({ status: 'read', events, more: false })) };
    },
  ),
  'streams are empty, then independent / ignores case in names': naming((stream) => stream.toLowerCase()),
  'events are read exactly as they were appended / has no empty text': recording((data) => data || 'null'),
  'events are read exactly as they were appended / normalizes text': recording((data) => data.normalize()),
  'events are read exactly as they were appended / ends text at a NUL': recording((data) =>
    data.replace(/\0[^]*/, '…'),
  ),
  'each sees an append of the other at once / shows what is newer at the second read': readingLate,
  'that is repeated in flight / checks and writes in separate steps': checkingBefore,
  'an append is never partly visible / writes event by event': writingOneByOne,
  'several writers lose nothing / checks and writes in separate steps': checkingBefore,
  'for any calls / shows what is newer at the second read': readingLate,
  'for any calls to two stores on one place / has a place of its own': apart,
  'a closed store is unavailable / throws the error of its driver after it was closed': () => ({
    closed: () => Promise.reject(new TypeError('Cannot use a pool after calling end on the pool')),
  }),
  'a reopened store has the history / is not durable': apart,
  'a reopened store has any events and odd texts / is not durable': apart,
  'a reopened store has streams of any names and commits / is not durable': apart,
  'a reopened store has nothing of an append that it refused / records what it refuses': () => ({
    closed: (call) => Promise.resolve(call()).then(() => Promise.reject(new StoreUnavailable())),
  }),
  'a lost reply to an append is an OutcomeUnknown / reports a lost reply as unavailable': neverUnknown,
  'a lost reply to a read is a StoreUnavailable / reports a lost reply as unknown': alwaysUnknown,
};
