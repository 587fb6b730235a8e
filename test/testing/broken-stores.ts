import { streamName } from '../../src/testing/a-stream';
import { setImmediate as turn } from 'node:timers/promises';
import { MemoryEventStore } from '../../src/adapters/memory';
import type { AppendResult, EventStore, ReadResult, RecordedEvent } from '../../src/event-sourcing';
import { type PlantEvent, parsePlantId } from '../../src/domain';

export const PAGE_SIZE = 3;

/**
 * Stores that each violate one guarantee, by the suite that must detect it (two if
 * random work must detect it, too).
 */
export const BROKEN: Readonly<Record<string, () => EventStore<PlantEvent>>> = {
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
  'ignores case in names': () => naming((stream) => stream.toLowerCase()),
  'truncates long names': () => naming((stream) => stream.slice(0, 200)),
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
  'reports a conflict for every unknown head': () =>
    changed((store) => ({
      async append(stream, expected, commit, events) {
        const result = await store.append(stream, expected, commit, events);
        return result.status === 'reset' ? { status: 'conflict', events: [], more: false } : result;
      },
    })),
  'sets `more` at the end': () => reading((result) => ({ ...result, more: result.events.length > 0 })),
  'never sets `more`': () => reading((result) => ({ ...result, more: false })),
  'omits the first event of a page': () =>
    reading((result) => (result.more ? { ...result, events: result.events.slice(1) } : result)),
  'returns more than a page': () =>
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
  'returns no events with a conflict': () =>
    changed((store) => ({
      async append(stream, expected, commit, events) {
        const result = await store.append(stream, expected, commit, events);
        return result.status === 'conflict' ? { ...result, events: [], more: false } : result;
      },
    })),
  'records an append that conflicts': () =>
    changed((store) => ({
      async append(stream, expected, commit, events) {
        const result = await store.append(stream, expected, commit, events);
        if (result.status !== 'conflict') return result;
        const last = (await wholeHistory(store, stream)).at(-1)!;
        await store.append(stream, last, commit, events);
        return result;
      },
    })),
  'recognizes an append only while it is the last': () =>
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
        let result: AppendResult<PlantEvent> | undefined;
        for (const [index, event] of events.entries()) {
          const head = index === 0 ? expected : { version: expected.version + index, commit };
          result = await store.append(stream, head, commit, [event]);
          await turn();
        }
        return result ?? store.append(stream, expected, commit, events);
      },
    })),
  'checks and writes in separate steps': () =>
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
  'returns a result that changes later': () => {
    const answers = new Map<string, RecordedEvent<PlantEvent>[]>();
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

function changed(
  change: (store: EventStore<PlantEvent>) => Partial<EventStore<PlantEvent>>,
): EventStore<PlantEvent> {
  const store = new MemoryEventStore<PlantEvent>(PAGE_SIZE);
  return { read: store.read.bind(store), append: store.append.bind(store), ...change(store) };
}

function recording(record: (event: PlantEvent) => PlantEvent): EventStore<PlantEvent> {
  return changed((store) => ({
    append: (stream, expected, commit, events) => store.append(stream, expected, commit, events.map(record)),
  }));
}

function naming(name: (stream: string) => string): EventStore<PlantEvent> {
  return changed((store) => ({
    read: (stream, after) => store.read(streamName(name(stream)), after),
    append: (stream, ...rest) => store.append(streamName(name(stream)), ...rest),
  }));
}

type Read = Extract<ReadResult<PlantEvent>, { readonly status: 'read' }>;

function reading(answer: (result: Read) => Read): EventStore<PlantEvent> {
  return changed((store) => ({
    async read(stream, after) {
      const result = await store.read(stream, after);
      return result.status === 'read' ? answer(result) : result;
    },
  }));
}

async function wholeHistory(
  store: EventStore<PlantEvent>,
  stream: string,
): Promise<RecordedEvent<PlantEvent>[]> {
  const history: RecordedEvent<PlantEvent>[] = [];
  for (let more = true; more;) {
    const { version, commit } = history.at(-1) ?? { version: 0, commit: '' };
    const page = await store.read(streamName(stream), { version, commit });
    if (page.status === 'reset') break;
    history.push(...page.events);
    more = page.more;
  }
  return history;
}
