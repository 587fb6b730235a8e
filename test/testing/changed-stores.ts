/** Memory stores with one change each. */
import { MemoryEventStore } from '../../src/adapters/memory';
import type { EncodedEvent, EventStore, Head, ReadResult, StreamName } from '../../src/event-sourcing';
import { streamName } from '../../src/testing/a-stream';
import { PAGE_SIZE, wholeHistory } from './simulated-place';

export function changed(change: (store: EventStore) => Partial<EventStore>): EventStore {
  const store = new MemoryEventStore(PAGE_SIZE);
  return { read: store.read.bind(store), append: store.append.bind(store), ...change(store) };
}

export function recording(record: (event: EncodedEvent) => EncodedEvent): EventStore {
  return changed((store) => ({
    append: (stream, expected, commit, events) => store.append(stream, expected, commit, events.map(record)),
  }));
}

/** As a database that has no empty text. */
export const withoutEmptyData = changedData((data) => data || 'null');

/** As a column of type JSON, which parses its text. */
export const asJson = changedData((data) => {
  try {
    return JSON.stringify(JSON.parse(data));
  } catch {
    return data;
  }
});

export const inLatin1 = changedData(latin1);

export function changedData(change: (data: string) => string): (event: EncodedEvent) => EncodedEvent {
  return ({ type, data }) => ({ type, data: change(data) });
}

export function latin1(text: string): string {
  return Buffer.from(text, 'latin1').toString('latin1');
}

/** A store that writes another commit id, and finds it by that. */
export function committing(write: (commit: string) => string): EventStore {
  return changed((store) => ({
    append: (stream, expected, commit, events) => store.append(stream, expected, write(commit), events),
  }));
}

/** A store that takes commit ids for equal if `key` returns the same for them. */
export function comparingCommits(key: (commit: string) => string): EventStore {
  return changed((store) => {
    /** The commit id at `version`, if it equals `commit` by its key. */
    const recordedAs = async (stream: StreamName, version: number, commit: string) => {
      const recorded = (await wholeHistory(store, stream))[version - 1]?.commit;
      return recorded !== undefined && key(recorded) === key(commit) ? recorded : commit;
    };
    const known = async (stream: StreamName, { version, commit }: Head): Promise<Head> => ({
      version,
      commit: await recordedAs(stream, version, commit),
    });
    return {
      read: async (stream, after) => store.read(stream, await known(stream, after)),
      append: async (stream, expected, commit, events) =>
        store.append(
          stream,
          await known(stream, expected),
          await recordedAs(stream, expected.version + 1, commit),
          events,
        ),
    };
  });
}

export function naming(name: (stream: string) => string): EventStore {
  return changed((store) => ({
    read: (stream, after) => store.read(streamName(name(stream)), after),
    append: (stream, ...rest) => store.append(streamName(name(stream)), ...rest),
  }));
}

type Read = Extract<ReadResult, { readonly status: 'read' }>;

export function reading(answer: (result: Read) => Read): EventStore {
  return changed((store) => ({
    async read(stream, after) {
      const result = await store.read(stream, after);
      return result.status === 'read' ? answer(result) : result;
    },
  }));
}
