import type { EventStore } from '../application';
import { Stream } from './a-stream';

/** What a case knows of the store under test. */
export class Subject {
  constructor(
    readonly store: EventStore,
    /** The same place once more, as after a restart. */
    readonly reopen: () => Promise<EventStore>,
    readonly pageSize: number,
    readonly seed: number,
    /** How much random work, as a factor. */
    readonly effort: number,
  ) {}

  /** A new one. */
  aStream(): Stream {
    return new Stream(this.store);
  }
}

/** By the promise that each would find broken. */
export type Cases = Readonly<Record<string, (subject: Subject) => Promise<void>>>;
