import {
  type AppendResult,
  BEGINNING,
  type EncodedEvent,
  type EventPage,
  FEED_BEGINNING,
  type FeedEntry,
  type FeedPosition,
  type FeedReadResult,
  type FeedTrail,
  type Head,
  type ReadResult,
  type StoredEvent,
  type StreamName,
  UnreadableHistory,
  positionOf,
} from '../../../src/event-sourcing';
import type { KeptBase } from '../../support/memory-snapshots';

/** One write of the primary, in the order in which replicas receive them. */
interface Write {
  readonly stream: string;
  /** Number of events that it recorded. 0 if an append was repeated: the script writes then, too. */
  readonly events: number;
  /** Takes back the write of a base, or the removal of archived events. */
  readonly undo?: () => void;
}

/** A write that the primary refuses, with its error reply. Nothing was written. */
export class WriteRefused extends Error {
  override readonly name = 'WriteRefused';
}

/** The error replies of a primary without memory, and of one that cannot write its append-only file. */
export const DISK_ERROR = 'MISCONF Errors writing to the AOF file: No space left on device';
export const OUT_OF_MEMORY = "OOM command not allowed when used memory > 'maxmemory'.";

/**
 * What Redis and the scripts of this service do to streams of events: a primary, its append-only file, and replicas
 * that have the first writes of it. Every call takes effect at once.
 */
export class RedisModel {
  readonly streams = new Map<string, StoredEvent[]>();
  /** The events of each stream that a failover or a restart has lost. */
  readonly lost = new Map<string, StoredEvent[]>();
  /** The base of each stream whose first events were archived. */
  readonly bases = new Map<string, KeptBase>();
  /** Whether a failover or a restart has lost a base, or the removal of archived events. */
  hasLostArchive = false;
  /** All entries of the feed, in one bucket, with those that were trimmed. */
  #feed: FeedEntry[] = [];
  /** Appends to the feed so far, those that were lost included. */
  #attempts = 0;
  #sequence = 0;
  /** Called after each change of the events of a stream. */
  changed: (stream: string) => void = () => {};
  /** The error reply to every write; `undefined` while the primary accepts them. */
  refusal: string | undefined;
  /** The version of the oldest entry of each stream from which archived events were removed. */
  readonly #oldest = new Map<string, number>();
  readonly #archivedTo = new Map<string, number>();
  readonly #writes: Write[] = [];
  /** Number of writes that each replica has. */
  readonly #replicas: number[];
  readonly #connected: boolean[];

  /**
   * @param pageSize maximum number of events of a read or a conflict; 1 or more.
   * @param feedLength number of entries that the feed keeps.
   */
  constructor(
    replicas: number,
    private readonly pageSize: number,
    private readonly feedLength = Infinity,
  ) {
    this.#replicas = Array.from({ length: replicas }, () => 0);
    this.#connected = this.#replicas.map(() => true);
  }

  /** Whether each replica is connected. */
  get connected(): readonly boolean[] {
    return this.#connected;
  }

  /** Number of writes so far; a failover lowers it. */
  get offset(): number {
    return this.#writes.length;
  }

  /** All events, with those that were archived. */
  history(stream: string): readonly StoredEvent[] {
    return this.streams.get(stream) ?? [];
  }

  read(stream: string, after: Head): ReadResult {
    if (after.version === 0 && this.hasLostBase(stream)) throw new UnreadableHistory();
    if (this.#isArchived(stream, after)) return { status: 'archived' };
    const history = this.history(stream);
    if (!contains(history, after)) return { status: 'reset' };
    return { status: 'read', ...this.#newer(history, after) };
  }

  /** Whether a stream has events after a head, or does not have the head. */
  hasChanged(stream: string, after: Head): boolean {
    const history = this.history(stream);
    return history.length !== after.version || !contains(history, after);
  }

  /** The number of the next entry of the feed. */
  nextSequence(): number {
    return ++this.#sequence;
  }

  readFeed([after, ...older]: FeedTrail, limit: number): FeedReadResult {
    const kept = this.#feed.slice(-this.feedLength);
    const trimmed = this.#feed.length > kept.length ? kept[0]!.sequence - 1 : -1;
    const statusOf = ({ sequence, commit, attempt }: FeedPosition) => {
      if (sequence <= trimmed) return 'trimmed';
      const known = sequence === 0 ? FEED_BEGINNING : kept.find((each) => each.sequence === sequence);
      return known?.commit === commit && known.attempt === attempt ? 'read' : 'reset';
    };
    const status = statusOf(after);
    if (status === 'trimmed') return { status };
    if (status === 'reset') return { status, shared: older.find((each) => statusOf(each) === 'read') };
    const entries = kept.filter(({ sequence }) => sequence > after.sequence);
    return { status, entries: entries.slice(0, limit), more: entries.length > limit };
  }

  feedEnd(): FeedPosition {
    return positionOf(this.#feed.at(-1) ?? FEED_BEGINNING);
  }

  append(
    stream: string,
    expected: Head,
    commit: string,
    events: readonly EncodedEvent[],
    number?: number,
  ): AppendResult {
    const history = this.streams.get(stream) ?? [];
    const status = this.check(stream, expected, commit, events, history);
    if (status === 'unreadable') throw new UnreadableHistory();
    if (status === 'conflict') return { status, ...this.#newer(history, expected) };
    if (status === 'archived' || status === 'reset') return { status };
    if (this.refusal !== undefined) throw new WriteRefused(this.refusal);
    if (status === 'new') {
      for (const event of events) history.push({ version: history.length + 1, commit, ...event });
      this.streams.set(stream, history);
      const sequence = number ?? this.nextSequence();
      const at = this.#feed.findLastIndex((entry) => entry.sequence < sequence) + 1;
      const attempt = String(++this.#attempts);
      const entry = { sequence, commit, attempt, stream: stream as StreamName, version: history.length };
      this.#feed.splice(at, 0, entry);
      this.changed(stream);
    }
    this.#writes.push({ stream, events: status === 'new' ? events.length : 0 });
    return { status: 'appended', head: { version: expected.version + events.length, commit } };
  }

  /** What an append finds in a history of the stream: `new` if it must write its events. */
  check(
    stream: string,
    expected: Head,
    commit: string,
    events: readonly EncodedEvent[],
    history: readonly StoredEvent[],
  ): 'unreadable' | 'archived' | 'reset' | 'conflict' | 'recorded' | 'new' {
    if (expected.version === 0 && this.hasLostBase(stream)) return 'unreadable';
    if (this.#isArchived(stream, expected)) return 'archived';
    if (!contains(history, expected)) return 'reset';
    if (history.length === expected.version) return 'new';
    return isRecorded(history.slice(expected.version), commit, events) ? 'recorded' : 'conflict';
  }

  /** Replaces the base. No event is removed. */
  archive(stream: string, base: KeptBase): void {
    const replaced = this.bases.get(stream);
    const undo = () => {
      if (replaced) this.bases.set(stream, replaced);
      else this.bases.delete(stream);
    };
    this.bases.set(stream, base);
    this.#archivedTo.set(stream, Math.max(this.archivedTo(stream), base.head.version));
    this.#writes.push({ stream, events: 0, undo });
  }

  /** Removes up to so many of the oldest events before the head of the base. Returns their number. */
  trim(stream: string, events: number): number {
    const oldest = this.oldest(stream);
    const end = Math.min(this.bases.get(stream)?.head.version ?? 0, oldest + events);
    if (end <= oldest) return 0;
    this.#oldest.set(stream, end);
    this.#writes.push({ stream, events: 0, undo: () => void this.#oldest.set(stream, oldest) });
    return end - oldest;
  }

  /** Whether a stream does not have the event of its base's head, because its events were deleted. */
  hasLostBase(stream: string): boolean {
    const head = this.bases.get(stream)?.head;
    if (head === undefined) return false;
    return head.version < this.oldest(stream) || !contains(this.history(stream), head);
  }

  /** DEL of a stream, by mistake: its base stays. `others` are the events that it then has. */
  deleteEvents(stream: string, others: readonly StoredEvent[]): void {
    this.streams.set(stream, [...others]);
    this.#oldest.delete(stream);
  }

  /** The version of the oldest entry of a stream. */
  oldest(stream: string): number {
    return this.#oldest.get(stream) ?? 1;
  }

  /** The highest version of all bases of a stream, with those that were lost. */
  archivedTo(stream: string): number {
    return this.#archivedTo.get(stream) ?? 0;
  }

  /** WAIT: sends all writes to the connected replicas. The number of replicas that have the writes up to `offset`. */
  wait(offset: number): number {
    this.#connected.forEach((connected, replica) => connected && this.replicate(replica, Infinity));
    return this.#replicas.filter((has) => has >= offset).length;
  }

  /** A replica receives the next writes. */
  replicate(replica: number, writes: number): void {
    const has = this.#replicas[replica];
    if (has === undefined || !this.#connected[replica]) return;
    this.#replicas[replica] = Math.min(has + writes, this.offset);
  }

  /** Cuts or restores the connection of a replica. */
  connect(replica: number, connected: boolean): void {
    if (replica < this.#connected.length) this.#connected[replica] = connected;
  }

  /** A replica replaces the primary: the writes that it does not have are lost. */
  promote(replica: number): void {
    const has = this.#replicas[replica];
    if (has === undefined) return;
    this.loseWrites(this.offset - has);
  }

  /** A restart from an append-only file, or from a replica, that does not have the last writes. */
  loseWrites(count: number): void {
    for (const { stream, events, undo } of this.#writes.splice(Math.max(0, this.offset - count)).reverse()) {
      undo?.();
      this.hasLostArchive ||= undo !== undefined;
      const history = this.streams.get(stream)!;
      const left = history.length - events;
      this.lost.set(stream, [...(this.lost.get(stream) ?? []), ...history.slice(left)]);
      if (events === 0) continue;
      // Another array: a timeline has the one with the lost events.
      this.streams.set(stream, history.slice(0, left));
      this.#feed = this.#feed.filter((entry) => entry.stream !== stream || entry.version <= left);
      this.#sequence = this.feedEnd().sequence;
      this.changed(stream);
    }
    this.#replicas.forEach((has, replica) => (this.#replicas[replica] = Math.min(has, this.offset)));
  }

  #isArchived(stream: string, { version }: Head): boolean {
    return this.oldest(stream) > Math.max(1, version);
  }

  #newer(history: readonly StoredEvent[], { version }: Head): EventPage {
    const end = version + this.pageSize;
    return { events: history.slice(version, end), more: end < history.length };
  }
}

/** Whether a history begins with these events of a commit. */
function isRecorded(history: readonly StoredEvent[], commit: string, events: readonly EncodedEvent[]) {
  return events.every(({ type, data }, index) => {
    const recorded = history[index];
    return recorded?.commit === commit && recorded.type === type && recorded.data === data;
  });
}

function contains(history: readonly Head[], { version, commit }: Head): boolean {
  return (version === 0 ? BEGINNING.commit : history[version - 1]?.commit) === commit;
}
