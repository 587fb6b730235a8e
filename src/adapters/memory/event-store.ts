import {
  type AppendResult,
  BEGINNING,
  type CataloguedStream,
  type EventStore,
  type ForeignObject,
  type Head,
  type NewerEvents,
  type ReadResult,
  type RecordedEvent,
  type StreamCatalogue,
  type User,
  parseUser,
} from '../../application';
import type { PlantEvent } from '../../domain';

/**
 * Keeps events in this process and forgets them with it. The default for
 * development, the reference that other stores are compared with, and the
 * shortest complete example of an adapter.
 */
export class MemoryEventStore implements EventStore, StreamCatalogue {
  readonly #streams = new Map<string, RecordedEvent[]>();

  /** @param pageSize how many events a read or a conflict hands over at most; 1 or more. */
  constructor(private readonly pageSize = 1000) {}

  async read(stream: string, after: Head): Promise<ReadResult> {
    const history = this.#streams.get(stream) ?? [];
    if (!contains(history, after)) return { status: 'reset' };
    return { status: 'read', ...this.#newer(history, after) };
  }

  async append(
    stream: string,
    expected: Head,
    commit: string,
    events: readonly PlantEvent[],
  ): Promise<AppendResult> {
    if (events.length === 0 || commit === '')
      throw new RangeError('an append needs a commit id and an event');
    const history = this.#streams.get(stream) ?? [];
    if (!contains(history, expected)) return { status: 'reset' };
    const next = history[expected.version];
    if (next !== undefined && next.commit !== commit) {
      return { status: 'conflict', ...this.#newer(history, expected) };
    }
    // Where the next event already bears this commit, the append has landed before: the same answer as then.
    if (next === undefined) {
      for (const event of events) history.push({ version: history.length + 1, commit, event });
      this.#streams.set(stream, history);
    }
    return { status: 'appended', head: { version: expected.version + events.length, commit } };
  }

  async *streams(): AsyncGenerator<CataloguedStream | ForeignObject> {
    for (const [name, { length }] of this.#streams) {
      const stream = parseUser(name);
      yield stream === undefined ? { foreign: name } : { stream, version: length };
    }
  }

  async find(stream: User): Promise<CataloguedStream | undefined> {
    const history = this.#streams.get(stream);
    return history && { stream, version: history.length };
  }

  async erase(stream: User): Promise<number> {
    const events = this.#streams.get(stream)?.length ?? 0;
    this.#streams.delete(stream);
    return events;
  }

  #newer(history: readonly RecordedEvent[], { version }: Head): NewerEvents {
    const end = version + this.pageSize;
    return { events: history.slice(version, end), more: end < history.length };
  }
}

function contains(history: readonly RecordedEvent[], { version, commit }: Head): boolean {
  return (version === 0 ? BEGINNING.commit : history[version - 1]?.commit) === commit;
}
