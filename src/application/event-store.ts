import type { PlantEvent } from '../domain';

/**
 * A place in one stream's history: its version, and the commit that wrote it.
 * The commit tells this history from another one that reached the same version
 * after a failover lost the tail of the first.
 */
export interface Head {
  /** How many events lead up to here: 0, 1, 2 … without gaps. */
  readonly version: number;
  /** The id of the append that recorded the event `version`; empty at the beginning. */
  readonly commit: string;
}

/** Where every stream begins, and where one that was never written still is. */
export const BEGINNING: Head = { version: 0, commit: '' };

/** An event as it was recorded. */
export interface RecordedEvent extends Head {
  readonly event: PlantEvent;
}

/** Where the history stands behind `recorded`; of its event nothing is kept. */
export function headOf({ version, commit }: RecordedEvent): Head {
  return { version, commit };
}

/** Events behind a known head, in order. Where `more` is set, reading on from the last one yields the rest. */
export interface NewerEvents {
  readonly events: readonly RecordedEvent[];
  readonly more: boolean;
}

/** The history that the caller knows is not (or no longer) the stream's: start over from {@link BEGINNING}. */
export interface HistoryLost {
  readonly status: 'reset';
}

export type ReadResult = ({ readonly status: 'read' } & NewerEvents) | HistoryLost;

export type AppendResult =
  | { readonly status: 'appended'; readonly head: Head }
  | ({ readonly status: 'conflict' } & NewerEvents)
  | HistoryLost;

/**
 * Port: keeps events in streams, one stream per user, independent of one another.
 *
 * What every adapter owes (test/contracts/event-store.ts checks it):
 * - An append is recorded whole or not at all, at consecutive versions, and is
 *   visible to every read that starts after it was acknowledged.
 * - `read` and `append` first compare the caller's head with the history. Where
 *   the stream does not reach that version, or reached it by another commit,
 *   the answer is `reset` and nothing is written.
 * - `append` behind whose head there is anything newer writes nothing and
 *   answers `conflict` with (the beginning of) what is newer.
 * - `append` repeated with the same head and commit answers what the first one
 *   did, also when later events followed it. A commit id is minted once per
 *   append by the caller, and never used for another.
 * - Faults are {@link StoreUnavailable} or {@link OutcomeUnknown} and nothing else. A
 *   read changes nothing, so it has no unknown outcome.
 *
 * A stream's name is a {@link User}: 1–255 characters of well-formed Unicode. A
 * commit id is any string but the empty one. A page with `more` is not empty.
 */
export interface EventStore {
  /** What `stream` holds behind `after`; an unknown stream is an empty one. */
  read(stream: string, after: Head): Promise<ReadResult>;

  /** Records `events` (at least one, else RangeError) right behind `expected`, as the one `commit` (not empty). */
  append(
    stream: string,
    expected: Head,
    commit: string,
    events: readonly PlantEvent[],
  ): Promise<AppendResult>;
}

/** A fault that changed nothing and will not: the store is away, refusing, overloaded or too slow. */
export class StoreUnavailable extends Error {
  override readonly name: string = 'StoreUnavailable';
  /** In how many milliseconds a repetition is likely to succeed; `undefined` where that is unknown. */
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

/** A fault after which nobody knows yet whether the write was recorded, or still will be. */
export class OutcomeUnknown extends Error {
  override readonly name = 'OutcomeUnknown';
}

/** What the stream holds cannot be understood (an unknown event type, a newer format): refused, never skipped. */
export class UnreadableHistory extends StoreUnavailable {
  override readonly name = 'UnreadableHistory';
}

/** Whether `error` is a fault that the port knows; anything else is a bug of the store. */
export function isStoreFault(error: unknown): boolean {
  return error instanceof StoreUnavailable || error instanceof OutcomeUnknown;
}
