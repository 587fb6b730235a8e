import type { Clock } from './clock';
import type { EventStore, Head } from './event-store';

/** What a collection tells whoever watches it. Called synchronously; must not throw. */
export interface CollectionObserver {
  /** A round was answered or failed; `requests` joined it, and it made `trips` calls to the store. */
  round?(requests: number, trips: number): void;
  appended?(events: number): void;
  /** An append found newer events than the collection knew. Its first look at a history that others wrote is none. */
  conflict?(): void;
  /** The store no longer has the history up to `known`; the collection starts over from what it has. */
  historyLost?(stream: string, known: Head): void;
  fault?(stream: string, error: unknown): void;
  /** A long history is being read, has come to `version`, and goes on. Every hundred thousand events or so. */
  loading?(stream: string, version: number): void;
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
  /**
   * Puts the start of a round off for as long as others who are about to come
   * may join it: to the end of the event loop's turn, say, in which all that
   * the network brought is looked at. Not at all by default.
   */
  readonly gather?: (start: () => void) => void;
  readonly observer?: CollectionObserver;
}
