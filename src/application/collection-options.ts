import type { ByteBudget } from './byte-budget';
import type { Clock } from './clock';
import type { EventStore, Head } from './event-store';
import type { LoadQueue } from './load-queue';

/** Receives what happens in a collection, synchronously. What it throws is ignored. */
export interface CollectionObserver {
  /** A round was answered or failed; `requests` joined it, and it made `trips` calls to the store. */
  round?(requests: number, trips: number): void;
  appended?(events: number): void;
  /** An append found newer events than the collection knew. The first read of a history that others wrote is none. */
  conflict?(): void;
  /** The store no longer has the history up to `known`; the collection starts over from what it has. */
  historyLost?(stream: string, known: Head): void;
  fault?(stream: string, error: unknown): void;
  /** A page of a history was read. */
  loaded?(events: number): void;
  /** A long history is being read, has come to `version`, and goes on. Every hundred thousand events or so. */
  loading?(stream: string, version: number): void;
  /** The state of `stream` takes more than `limit` bytes: it is not loaded, or not extended. */
  tooLarge?(stream: string, limit: number): void;
}

export interface CollectionOptions {
  readonly store: EventStore;
  readonly clock: Clock;
  /** A fresh commit id at each call, unique for ever. */
  readonly mintCommit: () => string;
  /** Within how many milliseconds of its arrival every request is answered. */
  readonly timeoutMs: number;
  /** How many requests may wait for the next round; more are refused. */
  readonly maxWaiting: number;
  /** How much memory the state may take, in bytes; what exceeds it is refused. Unbounded by default. */
  readonly maxBytes?: number;
  /** What the commands of several collections hold in memory until they are settled. Unbounded by default. */
  readonly commandBytes?: ByteBudget;
  /** Admits the loads of several collections to the store. By default one of its own. */
  readonly loads?: LoadQueue;
  /**
   * Puts the start of a round off for as long as others who are about to come
   * may join it: to the end of the event loop's turn, say, in which all that
   * the network brought is looked at. Not at all by default.
   */
  readonly gather?: (start: () => void) => void;
  readonly observer?: CollectionObserver;
}
