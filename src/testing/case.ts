import fc from 'fast-check';
import type { EventStore } from '../event-sourcing';
import { Stream } from './a-stream';
import type { Place } from './place';

/** The events that the contract appends. */
export interface EventSamples<Event> {
  /** Any event that the store must accept, as it is read again: with `fc.record`, `noNullPrototype`. */
  readonly any: EventArbitrary<Event>;
  /** Events that a store could easily corrupt: long and unusual texts, extreme numbers, absent members. */
  readonly odd: readonly Event[];
}

/** A `fc.Arbitrary<Event>`, whether fast-check was imported or required: to the compiler these are two classes. */
export interface EventArbitrary<Event> {
  generate(random: never, bias: number | undefined): { readonly value: Event };
}

/** The store under test, with its parameters. */
export class Subject<Event> {
  constructor(
    readonly store: EventStore<Event>,
    readonly place: Place<Event>,
    readonly pageSize: number,
    readonly samples: EventSamples<Event>,
    readonly seed: number,
    /** Factor of the amount of random work. */
    readonly effort: number,
  ) {}

  /** Any event that the store must accept. */
  get anyEvent(): fc.Arbitrary<Event> {
    return this.samples.any as unknown as fc.Arbitrary<Event>;
  }

  /** A new stream. */
  aStream(): Stream<Event> {
    return new Stream(this.store);
  }

  /** Four different events. */
  get few(): readonly [one: Event, two: Event, three: Event, four: Event] {
    const [one, two, three, four] = this.events(4);
    return [one!, two!, three!, four!];
  }

  /** `count` events, deterministic. */
  events(count: number): Event[] {
    return fc.sample(this.anyEvent, { numRuns: count, seed: this.seed });
  }
}

/** Cases, by the guarantee that each checks. */
export type Cases = Readonly<Record<string, <Event>(subject: Subject<Event>) => Promise<void>>>;
