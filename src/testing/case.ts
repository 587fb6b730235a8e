import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { type EncodedEvent, type EventStore, StoreUnavailable } from '../event-sourcing';
import { Stream } from './a-stream';
import { ODD_TEXTS } from './odd-texts';
import type { Place } from './place';

/** Any event that a store must accept. */
export const anyEvent: fc.Arbitrary<EncodedEvent> = fc
  .tuple(fc.string({ unit: 'binary', minLength: 1, maxLength: 20 }), fc.string({ unit: 'binary' }))
  .map(([type, data]) => ({ type, data }));

/** Events that a store could easily corrupt: long and unusual texts. */
export const ODD_EVENTS: readonly EncodedEvent[] = ODD_TEXTS.flatMap((text) => [
  { type: 'Noted', data: text },
  { type: text.slice(0, 40), data: '' },
]);

/** The store under test, with its parameters. */
export class Subject {
  constructor(
    readonly store: EventStore,
    readonly place: Place,
    readonly pageSize: number,
    readonly seed: number,
    /** Factor of the amount of random work. */
    readonly effort: number,
    /** The number of entries that the feed keeps for each bucket. */
    readonly feedLength: number,
  ) {}

  /** A new stream. */
  aStream(): Stream {
    return new Stream(this.store);
  }

  /** Four different events. */
  get few(): readonly [one: EncodedEvent, two: EncodedEvent, three: EncodedEvent, four: EncodedEvent] {
    const [one, two, three, four] = this.events(4);
    return [one!, two!, three!, four!];
  }

  /** `count` events, deterministic. */
  events(count: number): EncodedEvent[] {
    return fc.sample(anyEvent, { numRuns: count, seed: this.seed });
  }
}

/** Cases, by the guarantee that each checks. */
export type Cases = Readonly<Record<string, (subject: Subject) => Promise<void>>>;

/** A new name of a projection. */
export function aProjection(): string {
  return `contract-${randomUUID()}`;
}

/**
 * Closes the store, and asserts that each of these calls rejects with StoreUnavailable after that. Checks nothing for a
 * store without `close`.
 */
export async function assertClosed(
  place: Place,
  calls: Readonly<Record<string, () => unknown>>,
): Promise<void> {
  if (!(await place.closeAll())) return;
  for (const [what, call] of Object.entries(calls)) {
    // In a function, so that a call that throws at once counts as one that rejects.
    const outcome = await (async () => call())().then(
      (result) => `resolved with ${JSON.stringify(result)}`,
      (error: unknown) => (error instanceof StoreUnavailable ? undefined : `rejected with ${String(error)}`),
    );
    if (outcome !== undefined)
      assert.fail(`${what} after close() must reject with StoreUnavailable, and ${outcome}`);
  }
}
