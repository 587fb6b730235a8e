import { Page } from '../domain';
import type { Head } from './event-store';

export interface ListQuery {
  /** 0 … Infinity. */
  readonly limit: number;
  /** A page's `next`, or 0 for the beginning. */
  readonly after: number;
}

export class Listing extends Page {
  constructor(
    { stretches, next }: Page,
    /** Changes whenever the list does, and names no other list that this user ever had. */
    readonly head: Head,
  ) {
    super(stretches, next);
  }
}
