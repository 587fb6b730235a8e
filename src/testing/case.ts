import fc from 'fast-check';
import type { EncodedEvent, EventStore } from '../event-sourcing';
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
