import {
  BEGINNING,
  type CancelSignal,
  type EventStore,
  type Head,
  type RecordedEvent,
  type StoreUnavailable,
  subscribe,
} from '../../src/event-sourcing';
import { streamName } from '../../src/testing/a-stream';
import { ManualClock } from '../support/manual-clock';
import { untilIdle } from '../support/manual-clock';
import { type LabelEvent, codec } from './labels';

export const ADA = streamName('ada');

/** A signal that counts its listeners. */
export class CountingSignal implements CancelSignal {
  aborted = false;
  readonly listeners = new Set<() => void>();

  addEventListener(_: 'abort', listener: () => void): void {
    this.listeners.add(listener);
  }

  removeEventListener(_: 'abort', listener: () => void): void {
    this.listeners.delete(listener);
  }

  abort(): void {
    this.aborted = true;
    for (const listener of this.listeners) listener();
  }
}

/** One subscription, and a consumer that takes events when the test says so. */
export class OneSubscription {
  readonly signal = new CountingSignal();
  /** The errors of reads that were reported, in order. */
  readonly unavailable: string[] = [];
  /** What the consumer has taken. */
  readonly taken: RecordedEvent<LabelEvent>[] = [];
  /** The error that ended the iteration, or `done`. */
  end: unknown;
  readonly iterator: AsyncIterableIterator<RecordedEvent<LabelEvent>>;

  constructor(
    store: EventStore,
    readonly after: Head = BEGINNING,
    readonly clock = new ManualClock(),
  ) {
    this.iterator = subscribe(store, ADA, after, {
      codec,
      clock: this.clock,
      signal: this.signal,
      unavailable: (error: StoreUnavailable) => this.unavailable.push(error.message),
    });
  }

  /** Asks for the next event, which is taken when it arrives. */
  next(): void {
    this.iterator.next().then(
      ({ value, done }) => {
        if (done) this.end = 'done';
        else this.taken.push(value);
      },
      (error: unknown) => (this.end = error),
    );
  }

  /** Takes every event as soon as it arrives. */
  async takeAll(): Promise<this> {
    void (async () => {
      try {
        for await (const event of this.iterator) this.taken.push(event);
        this.end = 'done';
      } catch (error) {
        this.end = error;
      }
    })();
    await untilIdle();
    return this;
  }

  get versions(): number[] {
    return this.taken.map(({ version }) => version);
  }

  /** The timers and listeners that the subscription holds. */
  get held(): number {
    return this.clock.waiting + this.signal.listeners.size;
  }
}
