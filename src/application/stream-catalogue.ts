import type { User } from './user';

/** A stream that has been written to. */
export interface CataloguedStream {
  readonly stream: User;
  /** The last version that was ever given in it, 1 or more. A history that ends before it has lost its end. */
  readonly version: number;
}

/** Something that stands where streams stand and is none, so it was put there by somebody else. */
export interface ForeignObject {
  /** As the store names it, with what is wrong about it. For people. */
  readonly foreign: string;
}

/**
 * Port: which streams there are, and the end of one. What an operator needs and
 * no request does, so it stands beside the {@link EventStore} instead of in it.
 * test/contracts/stream-catalogue.ts checks it.
 *
 * Faults are those of the event store: `StoreUnavailable`, and for `erase`
 * `OutcomeUnknown` too.
 */
export interface StreamCatalogue {
  /**
   * Every stream that was there from the first call to the last, and maybe some
   * that came or went meanwhile; each once, in no order.
   */
  streams(): AsyncIterable<CataloguedStream | ForeignObject>;

  /** `undefined` where nothing of the stream is there. */
  find(stream: User): Promise<CataloguedStream | undefined>;

  /**
   * Removes all that is stored of the stream, its name and its versions
   * included, and tells how many events that were. Whoever knows its history is
   * told `reset` from now on; what is appended at the beginning, by whoever
   * knows the stream as empty, is recorded as in a stream that never was.
   */
  erase(stream: User): Promise<number>;
}
