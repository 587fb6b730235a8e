import { setImmediate as turn } from 'node:timers/promises';
import { MemoryEventStore } from '../../src/adapters/memory';
import type { AppendResult, EventStore, ReadResult, RecordedEvent } from '../../src/application';
import { type PlantEvent, parsePlantId } from '../../src/domain';

export const PAGE_SIZE = 3;

/**
 * Stores with one promise broken each, as an author might break it, and by the
 * suite that has to find it out (two, where random work must find it as well).
 */
export const BROKEN: Readonly<Record<string, () => EventStore>> = {
  'forgets the empty tag': () =>
    recording((event) => {
      if (event.type === 'PlantDeleted' || event.tag !== '') return event;
      const { type, id, name } = event;
      return { type, id, name };
    }),
  'keeps ids as numbers': () =>
    recording((event) => ({ ...event, id: parsePlantId(BigInt(Number(event.id)).toString()) ?? event.id })),
  'normalizes text': () =>
    recording((event) => ('name' in event ? { ...event, name: event.name.normalize('NFC') } : event)),
  'takes names that differ in case for one': () => naming((stream) => stream.toLowerCase()),
  'cuts long names off': () => naming((stream) => stream.slice(0, 200)),
  'accepts an append without events': () =>
    changed((store) => ({
      append: async (stream, expected, commit, events) =>
        events.length === 0
          ? { status: 'appended', head: expected }
          : store.append(stream, expected, commit, events),
    })),
  'does not compare commits when it reads': () =>
    changed((store) => ({
      async read(stream, after) {
        const newer = (await wholeHistory(store, stream)).slice(after.version);
        return { status: 'read', events: newer.slice(0, PAGE_SIZE), more: newer.length > PAGE_SIZE };
      },
    })),
  'calls every head that it does not know a conflict': () =>
    changed((store) => ({
      async append(stream, expected, commit, events) {
        const result = await store.append(stream, expected, commit, events);
        return result.status === 'reset' ? { status: 'conflict', events: [], more: false } : result;
      },
    })),
  'says that there is more at the end': () =>
    reading((result) => ({ ...result, more: result.events.length > 0 })),
  'says that a page is all': () => reading((result) => ({ ...result, more: false })),
  'leaves the first event of a page out': () =>
    reading((result) => (result.more ? { ...result, events: result.events.slice(1) } : result)),
  'hands over more than a page': () =>
    changed((store) => ({
      async read(stream, after) {
        const first = await store.read(stream, after);
        if (first.status === 'reset') return first;
        return {
          ...first,
          events: (await wholeHistory(store, stream)).slice(after.version),
          more: first.more,
        };
      },
    })),
  'brings nothing with a conflict': () =>
    changed((store) => ({
      async append(stream, expected, commit, events) {
        const result = await store.append(stream, expected, commit, events);
        return result.status === 'conflict' ? { ...result, events: [], more: false } : result;
      },
    })),
  'records an append that it calls a conflict': () =>
    changed((store) => ({
      async append(stream, expected, commit, events) {
        const result = await store.append(stream, expected, commit, events);
        if (result.status !== 'conflict') return result;
        const last = (await wholeHistory(store, stream)).at(-1)!;
        await store.append(stream, last, commit, events);
        return result;
      },
    })),
  'knows an append again only while nothing has followed it': () =>
    changed((store) => ({
      async append(stream, expected, commit, events) {
        const last = (await wholeHistory(store, stream)).at(-1);
        const landed = last !== undefined && last.version > expected.version && last.commit !== commit;
        return store.append(stream, expected, landed ? `${commit} again` : commit, events);
      },
    })),
  'writes event by event': () =>
    changed((store) => ({
      async append(stream, expected, commit, events) {
        let result: AppendResult | undefined;
        for (const [index, event] of events.entries()) {
          const head = index === 0 ? expected : { version: expected.version + index, commit };
          result = await store.append(stream, head, commit, [event]);
          await turn();
        }
        return result ?? store.append(stream, expected, commit, events);
      },
    })),
  'looks first and writes later': () =>
    changed((store) => ({
      async append(stream, expected, commit, events) {
        const result = await store.read(stream, expected);
        await turn();
        const free =
          result.status === 'read' && result.events.length === 0 && events.length > 0 && commit !== '';
        if (!free) return store.append(stream, expected, commit, events);
        const last = (await wholeHistory(store, stream)).at(-1) ?? expected;
        return store.append(stream, last, commit, events);
      },
    })),
  'hands out an answer that goes on changing': () => {
    const answers = new Map<string, RecordedEvent[]>();
    return changed((store) => ({
      async read(stream, after) {
        const result = await store.read(stream, after);
        if (after.version > 0 || result.status === 'reset') return result;
        const answer = answers.get(stream) ?? [];
        answers.set(stream, answer);
        answer.splice(0, answer.length, ...result.events);
        return { ...result, events: answer };
      },
    }));
  },
};

function changed(change: (store: EventStore) => Partial<EventStore>): EventStore {
  const store = new MemoryEventStore(PAGE_SIZE);
  return { read: store.read.bind(store), append: store.append.bind(store), ...change(store) };
}

function recording(record: (event: PlantEvent) => PlantEvent): EventStore {
  return changed((store) => ({
    append: (stream, expected, commit, events) => store.append(stream, expected, commit, events.map(record)),
  }));
}

function naming(name: (stream: string) => string): EventStore {
  return changed((store) => ({
    read: (stream, after) => store.read(name(stream), after),
    append: (stream, ...rest) => store.append(name(stream), ...rest),
  }));
}

type Read = Extract<ReadResult, { readonly status: 'read' }>;

function reading(answer: (result: Read) => Read): EventStore {
  return changed((store) => ({
    async read(stream, after) {
      const result = await store.read(stream, after);
      return result.status === 'read' ? answer(result) : result;
    },
  }));
}

async function wholeHistory(store: EventStore, stream: string): Promise<RecordedEvent[]> {
  const history: RecordedEvent[] = [];
  for (let more = true; more;) {
    const { version, commit } = history.at(-1) ?? { version: 0, commit: '' };
    const page = await store.read(stream, { version, commit });
    if (page.status === 'reset') break;
    history.push(...page.events);
    more = page.more;
  }
  return history;
}
