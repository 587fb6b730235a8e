import type { StreamName } from './stream-name';

/**
 * A position in a stream's history: a version, and the commit that wrote it.
 * The commit distinguishes histories that reached the same version after a
 * failover lost the last events of the first.
 */
export interface Head {
  /** Number of events up to this position: 0, 1, 2 … without gaps. */
  readonly version: number;
  /** The id of the append that recorded event number `version`; empty at the beginning. */
  readonly commit: string;
}

/** The head of an empty stream. */
export const BEGINNING: Head = { version: 0, commit: '' };

/** An event as a store keeps it: two texts of well-formed Unicode. */
export interface EncodedEvent {
  /** The type of the event, which determines the format of `data`; not empty. */
  readonly type: string;
  readonly data: string;
}

/** A recorded event, with its version and commit. */
export interface StoredEvent extends Head, EncodedEvent {}

/** The head after a recorded event, without the event. */
export function headOf({ version, commit }: Head): Head {
  return { version, commit };
}

export function isSameHead(one: Head, other: Head): boolean {
  return one.version === other.version && one.commit === other.commit;
}

/** A page of events after a known head, in order. If `more` is set, reading after the last one yields the rest. */
export interface EventPage {
  readonly events: readonly StoredEvent[];
  readonly more: boolean;
}

/** The caller's head is not (or no longer) in the stream's history: read again from {@link BEGINNING}. */
export interface HistoryLost {
  readonly status: 'reset';
}

/** The event after the caller's head was archived, with all before it: begin with the base snapshot of the stream. */
export interface HistoryArchived {
  readonly status: 'archived';
}

export type ReadResult = ({ readonly status: 'read' } & EventPage) | HistoryLost | HistoryArchived;

export type AppendResult =
  | { readonly status: 'appended'; readonly head: Head }
  | ({ readonly status: 'conflict' } & EventPage)
  | HistoryLost
  | HistoryArchived;

/**
 * Port: stores events in independent streams.
 *
 * Guarantees of every store, checked by the published contract:
 * - An append is atomic: all of its events are recorded at consecutive versions,
 *   or none. Every read that starts after it was acknowledged sees it, also through
 *   another store on the same place. An append may have 1,024 events or more: a round
 *   combines the events of as many commands.
 * - `read` and `append` first compare the caller's head with the history. If the
 *   stream does not reach that version, or reached it by another commit, the
 *   result is `reset` and nothing is written.
 * - If the stream begins after the caller's head, because its first events were
 *   archived, the result of both is `archived` and nothing is written. The event of
 *   the base snapshot's head is never archived. See `SnapshotStore.loadBase`.
 * - If there is a base snapshot, and the stream does not have the event of its head, because its events were deleted,
 *   `read` and `append` at {@link BEGINNING} throw {@link UnreadableHistory}: it is neither an empty stream nor a new one.
 * - `append` at a head that is not the newest writes nothing and results in
 *   `conflict` with the first page of the newer events.
 * - `append` is idempotent: repeated with the same head and commit it has the
 *   result of the first, even if later events followed it. The caller mints a
 *   commit id once per append, and never uses it for another.
 * - Faults are {@link StoreUnavailable} or {@link OutcomeUnknown} and nothing else. A
 *   read changes nothing, so its outcome is never unknown.
 *
 * A store that archives nothing never results in `archived`.
 *
 * The store knows no domain: it returns `type` and `data` exactly as they were appended. Streams of several aggregates may
 * share it.
 *
 * A commit id has 1–255 characters of well-formed Unicode, like the name of a stream.
 * A page with `more` and the events of a conflict are not empty. A store that was closed is unavailable.
 */
export interface EventStore {
  /** The events of `stream` after `after`; an unknown stream is empty. */
  read(stream: StreamName, after: Head): Promise<ReadResult>;

  /** Records `events` after `expected` as one commit. RangeError if `events` or `commit` is empty. */
  append(
    stream: StreamName,
    expected: Head,
    commit: string,
    events: readonly EncodedEvent[],
  ): Promise<AppendResult>;

  /** Optional: without it, subscribers poll. */
  readonly notify?: Notify | undefined;
}

/**
 * Calls `changed` once `stream` may have events after `after`, or may no longer have `after` in its history; at once if
 * it is so now. Returns a function that cancels the call and frees what it took.
 *
 * It is a hint, which subscribers check by `read`: it may be missed after a fault, and may come without a change.
 */
export type Notify = (stream: StreamName, after: Head, changed: () => void) => () => void;
