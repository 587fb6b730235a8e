import type { Plant } from '../domain';
import type { Head } from './event-store';

export interface ListQuery {
  /** 0 … Infinity. */
  readonly limit?: number;
  /** A listing's `next`, or 0 for the beginning. */
  readonly after?: number;
}

/** A part of a user's plants, in order of creation, as of one moment. */
export interface Listing {
  readonly plants: readonly Plant[];
  /** The `after` of the next part; `undefined` where this one reached the end. */
  readonly next: number | undefined;
  /** Changes whenever the list does, and names no other list that this user ever had. */
  readonly head: Head;
}
