import {
  FEED_BEGINNING,
  type Feed,
  type FeedEntry,
  type FeedPosition,
  type FeedReadResult,
  type FeedTrail,
  type StreamName,
} from '../../event-sourcing';

/** The feed of a {@link MemoryEventStore}: one bucket with all its commits. */
export class MemoryFeed implements Feed {
  readonly buckets = 1;
  /** The entries from number `#trimmed + 1` on, without gaps. An erased one is its position alone. */
  #entries: (FeedEntry | FeedPosition)[] = [];
  #trimmed = 0;
  #waiting = new Set<() => void>();

  /** @param length number of entries that are kept at least; twice as many at most. */
  constructor(private readonly length = 100_000) {}

  bucketOf(): number {
    return 0;
  }

  async read(_bucket: number, trail: FeedTrail, limit = 1000): Promise<FeedReadResult> {
    const [after, ...older] = trail;
    const status = this.#statusOf(after);
    if (status === 'trimmed') return { status };
    if (status === 'reset')
      return { status, shared: older.find((position) => this.#statusOf(position) === 'read') };
    const page: FeedEntry[] = [];
    for (let index = after.sequence - this.#trimmed; index < this.#entries.length; index++) {
      const entry = this.#entries[index]!;
      if (!('stream' in entry)) continue;
      if (page.length === limit) return { status, entries: page, more: true };
      page.push(entry);
    }
    return { status, entries: page, more: false };
  }

  async end(): Promise<FeedPosition> {
    const { sequence, commit } = this.#entries.at(-1) ?? FEED_BEGINNING;
    return { sequence, commit };
  }

  notify(_bucket: number, after: FeedPosition, changed: () => void): () => void {
    if (this.#statusOf(after) !== 'read' || after.sequence < this.#trimmed + this.#entries.length) {
      changed();
      return () => {};
    }
    this.#waiting.add(changed);
    return () => void this.#waiting.delete(changed);
  }

  record(commit: Omit<FeedEntry, 'sequence'>): void {
    this.#entries.push({ sequence: this.#trimmed + this.#entries.length + 1, ...commit });
    if (this.#entries.length > 2 * this.length) {
      this.#trimmed += this.#entries.length - this.length;
      this.#entries = this.#entries.slice(-this.length);
    }
    const waiting = this.#waiting;
    this.#waiting = new Set();
    for (const changed of waiting) changed();
  }

  /** Removes the entries of a stream, and keeps their positions. */
  erase(stream: StreamName): void {
    this.#entries = this.#entries.map((entry) =>
      'stream' in entry && entry.stream === stream
        ? { sequence: entry.sequence, commit: entry.commit }
        : entry,
    );
  }

  /** The status of a read after a position. */
  #statusOf({ sequence, commit }: FeedPosition): FeedReadResult['status'] {
    if (sequence === 0) return commit !== '' ? 'reset' : this.#trimmed === 0 ? 'read' : 'trimmed';
    if (sequence <= this.#trimmed) return 'trimmed';
    return this.#entries[sequence - this.#trimmed - 1]?.commit === commit ? 'read' : 'reset';
  }
}
