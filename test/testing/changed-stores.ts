/** Memory stores with one change each. */
import { MemoryEventStore } from '../../src/adapters/memory';
import { type PlantEvent, parsePlantId } from '../../src/domain';
import type { EventStore, Head, ReadResult, StreamName } from '../../src/event-sourcing';
import { streamName } from '../../src/testing/a-stream';
import { PAGE_SIZE, wholeHistory } from './simulated-place';

export function changed(
  change: (store: EventStore<PlantEvent>) => Partial<EventStore<PlantEvent>>,
): EventStore<PlantEvent> {
  const store = new MemoryEventStore<PlantEvent>(PAGE_SIZE);
  return { read: store.read.bind(store), append: store.append.bind(store), ...change(store) };
}

export function recording(record: (event: PlantEvent) => PlantEvent): EventStore<PlantEvent> {
  return changed((store) => ({
    append: (stream, expected, commit, events) => store.append(stream, expected, commit, events.map(record)),
  }));
}

export function withoutEmptyTag(event: PlantEvent): PlantEvent {
  if (event.type === 'PlantDeleted' || event.tag !== '') return event;
  const { type, id, name } = event;
  return { type, id, name };
}

export function withRoundedId(event: PlantEvent): PlantEvent {
  return { ...event, id: parsePlantId(BigInt(Number(event.id)).toString()) ?? event.id };
}

export const inLatin1 = changedName(latin1);

export function changedName(change: (name: string) => string): (event: PlantEvent) => PlantEvent {
  return (event) => ('name' in event ? { ...event, name: change(event.name) } : event);
}

export function latin1(text: string): string {
  return Buffer.from(text, 'latin1').toString('latin1');
}

/** A store that writes another commit id, and finds it by that. */
export function committing(write: (commit: string) => string): EventStore<PlantEvent> {
  return changed((store) => ({
    append: (stream, expected, commit, events) => store.append(stream, expected, write(commit), events),
  }));
}

/** A store that takes commit ids for equal if `key` returns the same for them. */
export function comparingCommits(key: (commit: string) => string): EventStore<PlantEvent> {
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

export function naming(name: (stream: string) => string): EventStore<PlantEvent> {
  return changed((store) => ({
    read: (stream, after) => store.read(streamName(name(stream)), after),
    append: (stream, ...rest) => store.append(streamName(name(stream)), ...rest),
  }));
}

type Read = Extract<ReadResult<PlantEvent>, { readonly status: 'read' }>;

export function reading(answer: (result: Read) => Read): EventStore<PlantEvent> {
  return changed((store) => ({
    async read(stream, after) {
      const result = await store.read(stream, after);
      return result.status === 'read' ? answer(result) : result;
    },
  }));
}
