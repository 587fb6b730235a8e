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

/** A page of events after a known head, in order. If `more` is set, reading after the last one yields the rest. */
export interface NewerEvents<Event> {
  readonly events: readonly RecordedEvent<Event>[];
  readonly more: boolean;
}

/** The caller's head is not (or no longer) in the stream's history: read again from {@link BEGINNING}. */
export interface HistoryLost {
  readonly status: 'reset';
}

export type ReadResult<Event> = ({ readonly status: 'read' } & NewerEvents<Event>) | HistoryLost;

export type AppendResult<Event> =
  | { readonly status: 'appended'; readonly head: Head }
  | ({ readonly status: 'conflict' } & NewerEvents<Event>)
  | HistoryLost;

/**
 * Port: stores events in independent streams.
 *
 * Guarantees of every store, checked by the published contract:
 * - An append is atomic: all of its events are recorded at consecutive versions,
 *   or none. Every read that starts after it was acknowledged sees it.
 * - `read` and `append` first compare the caller's head with the history. If the
 *   stream does not reach that version, or reached it by another commit, the
 *   result is `reset` and nothing is written.
 * - `append` at a head that is not the newest writes nothing and results in
 *   `conflict` with the first page of the newer events.
 * - `append` is idempotent: repeated with the same head and commit it has the
 *   result of the first, even if later events followed it. The caller mints a
 *   commit id once per append, and never uses it for another.
 * - Faults are {@link StoreUnavailable} or {@link OutcomeUnknown} and nothing else. A
 *   read changes nothing, so its outcome is never unknown.
 *
 * A commit id is any string but the empty one. A page with `more` is not empty.
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
}

/** The store is unavailable, overloaded or too slow. Nothing was written, and nothing will be. */
export class StoreUnavailable extends Error {
  override readonly name: string = 'StoreUnavailable';
  /** After how many milliseconds a retry is likely to succeed; `undefined` if unknown. */
  readonly retryAfterMs: number | undefined;

  constructor(message?: string, { retryAfterMs, ...options }: UnavailableOptions = {}) {
    super(message, options);
    this.retryAfterMs = retryAfterMs;
  }
}

export interface UnavailableOptions {
  readonly cause?: unknown;
  readonly retryAfterMs?: number | undefined;
}

/** The outcome of a write is unknown: it may have been recorded, or may still be recorded later. */
export class OutcomeUnknown extends Error {
  override readonly name = 'OutcomeUnknown';
}

/** The stream has events that cannot be read: unknown type, newer format, violated rule. They are never skipped. */
export class UnreadableHistory extends StoreUnavailable {
  override readonly name = 'UnreadableHistory';
}

/** Whether `error` is a fault that the port defines; any other error is a bug of the store. */
export function isStoreFault(error: unknown): boolean {
  return error instanceof StoreUnavailable || error instanceof OutcomeUnknown;
}
