import {
  type AppendResult,
  BEGINNING,
  type CataloguedStream,
  type EncodedEvent,
  type EventPage,
  type EventStore,
  type Head,
  type ReadResult,
  type StoredEvent,
  type StreamCatalogue,
  type StreamName,
} from '../../event-sourcing';
import { MemoryFeed } from './feed';

/**
 * Stores events in the memory of this process. The default for development, the
 * reference for other stores, and the shortest complete example of an adapter.
 */
export class MemoryEventStore implements EventStore, StreamCatalogue {
  readonly #streams = new Map<StreamName, StoredEvent[]>();
  /** The callbacks to call when a stream changes, by stream. */
  readonly #waiting = new Map<StreamName, Set<() => void>>();

  readonly feed: MemoryFeed;

  /**
   * @param pageSize maximum number of events of a read or a conflict; 1 or more.
   * @param feedLength number of entries that the feed keeps at least; 1 or more.
   */
  constructor(
    private readonly pageSize = 1000,
    feedLength?: number,
  ) {
    this.feed = new MemoryFeed(feedLength);
  }

  async read(stream: StreamName, after: Head): Promise<ReadResult> {
    const history = this.#streams.get(stream) ?? [];
    if (!contains(history, after)) return { status: 'reset' };
    return { status: 'read', ...this.#newer(history, after) };
  }

  async append(
    stream: StreamName,
    expected: Head,
    commit: string,
    events: readonly EncodedEvent[],
  ): Promise<AppendResult> {
    if (events.length === 0 || commit === '')
      throw new RangeError('an append needs a commit id and an event');
    const history = this.#streams.get(stream) ?? [];
    if (!contains(history, expected)) return { status: 'reset' };
    const next = history[expected.version];
    if (next !== undefined && next.commit !== commit) {
      return { status: 'conflict', ...this.#newer(history, expected) };
    }
    // If the next event has this commit, the append is a repetition and has the same result.
    if (next === undefined) {
      // Copied: the caller's objects may have other members, or change.
      for (const { type, data } of events) history.push({ version: history.length + 1, commit, type, data });
      this.#streams.set(stream, history);
      this.feed.record({ stream, version: history.length, commit });
      this.#changed(stream);
    }
    return { status: 'appended', head: { version: expected.version + events.length, commit } };
  }

  notify(stream: StreamName, after: Head, changed: () => void): () => void {
    const history = this.#streams.get(stream) ?? [];
    if (!contains(history, after) || history.length > after.version) {
      changed();
      return () => {};
    }
    const waiting = this.#waiting.get(stream) ?? new Set();
    this.#waiting.set(stream, waiting.add(changed));
    return () => {
      waiting.delete(changed);
      if (waiting.size === 0 && this.#waiting.get(stream) === waiting) this.#waiting.delete(stream);
    };
  }

  async *streams(): AsyncGenerator<CataloguedStream> {
    for (const [stream, { length }] of this.#streams) yield { stream, version: length };
  }

  async find(stream: StreamName): Promise<CataloguedStream | undefined> {
    const history = this.#streams.get(stream);
    return history && { stream, version: history.length };
  }

  async erase(stream: StreamName): Promise<number> {
    const events = this.#streams.get(stream)?.length ?? 0;
    this.#streams.delete(stream);
    this.feed.erase(stream);
    this.#changed(stream);
    return events;
  }

  #changed(stream: StreamName): void {
    const waiting = this.#waiting.get(stream) ?? [];
    this.#waiting.delete(stream);
    for (const changed of waiting) changed();
  }

  #newer(history: readonly StoredEvent[], { version }: Head): EventPage {
    const end = version + this.pageSize;
    return { events: history.slice(version, end), more: end < history.length };
  }
}

function contains(history: readonly Head[], { version, commit }: Head): boolean {
  return (version === 0 ? BEGINNING.commit : history[version - 1]?.commit) === commit;
}
