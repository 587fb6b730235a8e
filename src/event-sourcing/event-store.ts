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

/** A recorded event, with its version and commit. */
export interface RecordedEvent<Event> extends Head {
  readonly event: Event;
}

/** The head after a recorded event, without the event. */
export function headOf({ version, commit }: Head): Head {
  return { version, commit };
}

export function isSameHead(one: Head, other: Head): boolean {
  return one.version === other.version && one.commit === other.commit;
}

/** A page of events after a known head, in order. If `more` is set, reading after the last one yields the rest. */
export interface NewerEvents<Event> {
  readonly events: readonly RecordedEvent<Event>[];
  readonly more: boolean;
  /**
   * Optional: the head of the last event. A store that decodes a page with `more` only when its `events` are used gives
   * it, so that a load requests the next page before that. Then `events` throws {@link UnreadableHistory}.
   */
  readonly end?: Head;
}

/** The caller's head is not (or no longer) in the stream's history: read again from {@link BEGINNING}. */
export interface HistoryLost {
  readonly status: 'reset';
}

/** The event after the caller's head was archived, with all before it: begin with the base snapshot of the stream. */
export interface HistoryArchived {
  readonly status: 'archived';
}

export type ReadResult<Event> =
  ({ readonly status: 'read' } & NewerEvents<Event>) | HistoryLost | HistoryArchived;

export type AppendResult<Event> =
  | { readonly status: 'appended'; readonly head: Head }
  | ({ readonly status: 'conflict' } & NewerEvents<Event>)
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
 * A commit id has 1–255 characters of well-formed Unicode, like the name of a stream.
 * A page with `more` and the events of a conflict are not empty. A store that was closed is unavailable.
 */
export interface EventStore<Event> {
  /** The events of `stream` after `after`; an unknown stream is empty. */
  read(stream: StreamName, after: Head): Promise<ReadResult<Event>>;

  /** Records `events` after `expected` as one commit. RangeError if `events` or `commit` is empty. */
  append(
    stream: StreamName,
    expected: Head,
    commit: string,
    events: readonly Event[],
  ): Promise<AppendResult<Event>>;

  /** Optional: without it, subscribers poll. */
  readonly notify?: Notify | undefined;
}

/**
 * Why nothing was written: `store` if the store did not answer or refused, `loading` while a history is loaded,
 * `unreadable` for a history that cannot be read. The others are limits of this instance: requests and commands that
 * wait for a round, the size of a state, appends without a reply. Labels of a metric.
 */
export const UNAVAILABLE_REASONS = [
  'store',
  'store_refused',
  'loading',
  'unreadable',
  'waiting_requests',
  'waiting_commands',
  'state_size',
  'waiting_appends',
] as const;

export type UnavailableReason = (typeof UNAVAILABLE_REASONS)[number];

/**
 * Calls `changed` once `stream` may have events after `after`, or may no longer have `after` in its history; at once if
 * it is so now. Returns a function that cancels the call and frees what it took.
 *
 * It is a hint, which subscribers check by `read`: it may be missed after a fault, and may come without a change.
 */
export type Notify = (stream: StreamName, after: Head, changed: () => void) => () => void;

/** The store is unavailable, overloaded or too slow. Nothing was written, and nothing will be. */
export class StoreUnavailable extends Error {
  override readonly name: string = 'StoreUnavailable';
  readonly reason: UnavailableReason;
  /** After how many milliseconds a retry is likely to succeed; `undefined` if unknown. */
  readonly retryAfterMs: number | undefined;

  constructor(message?: string, { reason = 'store', retryAfterMs, ...options }: UnavailableOptions = {}) {
    super(message, options);
    this.reason = reason;
    this.retryAfterMs = retryAfterMs;
  }
}

export interface UnavailableOptions {
  readonly cause?: unknown;
  /** `store` by default. */
  readonly reason?: UnavailableReason;
  readonly retryAfterMs?: number | undefined;
}

/** The outcome of a write is unknown: it may have been recorded, or may still be recorded later. */
export class OutcomeUnknown extends Error {
  override readonly name = 'OutcomeUnknown';
}

/** The stream has events that cannot be read: unknown type, newer format, violated rule. They are never skipped. */
export class UnreadableHistory extends StoreUnavailable {
  override readonly name = 'UnreadableHistory';
  override readonly reason = 'unreadable';
}

/** Whether the failed call changed nothing, and may succeed when it is repeated. */
export function isTransient(error: unknown): error is StoreUnavailable {
  return error instanceof StoreUnavailable && !(error instanceof UnreadableHistory);
}

/** Whether `error` is a fault that the port defines; any other error is a bug of the store. */
export function isStoreFault(error: unknown): boolean {
  return error instanceof StoreUnavailable || error instanceof OutcomeUnknown;
}
