/** Random schedules of appends, faults of the store, lost histories and reconnecting consumers. */
import { expect } from 'chai';
import fc from 'fast-check';
import { MemoryEventStore } from '../../src/adapters/memory/event-store';
import {
  BEGINNING,
  type EventStore,
  HistoryChanged,
  type RecordedEvent,
  StoreUnavailable,
  headOf,
  subscribe,
} from '../../src/event-sourcing';
import { ManualClock } from '../support/manual-clock';
import { untilIdle } from '../support/manual-clock';
import { ScriptedStore } from '../support/scripted-store';
import { ADA, CountingSignal } from './one-subscription';
import { type LabelEvent, codec, ferns } from './labels';

const RUNS = process.env['LONG'] === '1' ? 20_000 : 150;

type Move =
  | { readonly type: 'append'; readonly events: number }
  /** What happens to the oldest read in flight, if there is one. */
  | { readonly type: 'execute' | 'answer' | 'fail' }
  | { readonly type: 'take' | 'reconnect' }
  | { readonly type: 'notifications'; readonly work: boolean }
  | { readonly type: 'failover'; readonly keep: number }
  | { readonly type: 'pass'; readonly ms: number };

const move = (type: 'execute' | 'answer' | 'fail' | 'take' | 'reconnect') => fc.constant<Move>({ type });
const anyMove = fc.oneof<fc.WeightedArbitrary<Move>[]>(
  {
    weight: 8,
    arbitrary: fc.record({ type: fc.constant('append'), events: fc.integer({ min: 1, max: 4 }) }),
  },
  { weight: 4, arbitrary: move('execute') },
  { weight: 12, arbitrary: move('answer') },
  { weight: 3, arbitrary: move('fail') },
  { weight: 16, arbitrary: move('take') },
  { weight: 2, arbitrary: move('reconnect') },
  { weight: 2, arbitrary: fc.record({ type: fc.constant('notifications'), work: fc.boolean() }) },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('failover'), keep: fc.nat({ max: 6 }) }) },
  { weight: 4, arbitrary: fc.record({ type: fc.constant('pass'), ms: fc.constantFrom(50, 200, 5000) }) },
);

/** A consumer that applies events to a copy of the history, and starts over when the history has changed. */
class Consumer {
  readonly clock = new ManualClock();
  readonly signal = new CountingSignal();
  copy: RecordedEvent<LabelEvent>[] = [];
  #subscription: AsyncIterator<RecordedEvent<LabelEvent>>;
  #taking = false;
  error: unknown;

  constructor(
    private readonly events: EventStore,
    private readonly store: ScriptedStore<LabelEvent>,
  ) {
    this.#subscription = this.#subscribe();
  }

  #subscribe() {
    const { clock, signal } = this;
    const after = this.copy.at(-1) ?? BEGINNING;
    return subscribe(this.events, ADA, after, { codec, clock, signal })[Symbol.asyncIterator]();
  }

  take(): void {
    if (this.#taking) return;
    this.#taking = true;
    const subscription = this.#subscription;
    this.#next(subscription)
      .catch((error: unknown) => (this.error = error))
      .finally(() => {
        if (subscription === this.#subscription) this.#taking = false;
      });
  }

  async #next(subscription: AsyncIterator<RecordedEvent<LabelEvent>>): Promise<void> {
    try {
      const { value, done } = await subscription.next();
      if (!done) this.copy.push(value);
    } catch (error) {
      if (!(error instanceof HistoryChanged)) throw error;
      const last = this.copy.at(-1) ?? BEGINNING;
      expect(error.head, 'the head of the error').to.deep.equal(headOf(last));
      const history = await this.store.history(ADA);
      expect(history.map(headOf), 'a history that was not lost').to.not.deep.include(headOf(last));
      this.copy = [];
      this.#subscription = this.#subscribe();
      this.#taking = false;
    }
  }

  /** Ends the subscription, possibly while it reads or waits, and follows on with another one. */
  async reconnect(): Promise<void> {
    const ended = this.#subscription.return!();
    this.#subscription = this.#subscribe();
    this.#taking = false;
    await ended;
    expect([this.clock.waiting, this.signal.listeners.size], 'held').to.deep.equal([0, 0]);
  }
}

async function perform(move: Move, store: ScriptedStore<LabelEvent>, consumer: Consumer): Promise<void> {
  const [call] = store.calls;
  switch (move.type) {
    case 'append':
      await store.recordCommit(ADA, ...ferns(move.events));
      break;
    case 'execute':
      return call?.execute();
    case 'answer':
      return call?.answer();
    case 'fail':
      return call?.fail(new StoreUnavailable('no connection'));
    case 'take':
      consumer.take();
      break;
    case 'reconnect':
      return consumer.reconnect();
    case 'notifications':
      store.notifies = move.work;
      break;
    case 'failover':
      await store.loseTail(ADA, move.keep);
      break;
    case 'pass':
      return consumer.clock.pass(move.ms);
  }
  await untilIdle();
}

/** All faults end, and the consumer takes all that there is. */
async function settle(store: ScriptedStore<LabelEvent>, consumer: Consumer): Promise<void> {
  store.held = false;
  for (const call of [...store.calls]) await call.answer();
  const { length } = await store.history(ADA);
  for (let left = 2 * length + 2; left > 0; left--) {
    consumer.take();
    await consumer.clock.pass(5000);
  }
}

for (const { kind, of } of [
  { kind: 'notifies', of: (store: ScriptedStore<LabelEvent>): EventStore => store },
  {
    kind: 'does not notify',
    of: (store: ScriptedStore<LabelEvent>): EventStore => ({
      read: (...args) => store.read(...args),
      append: (...args) => store.append(...args),
    }),
  },
]) {
  describe(`Subscriptions to a store that ${kind}`, () => {
    it('deliver each event exactly once and in order, in any schedule', () =>
      fc.assert(
        fc.asyncProperty(fc.array(anyMove, { maxLength: 60, size: 'max' }), async (moves) => {
          const store = new ScriptedStore(codec, () => new MemoryEventStore(2));
          const consumer = new Consumer(of(store), store);
          for (const move of moves) {
            await perform(move, store, consumer);
            expect(consumer.error).to.equal(undefined);
          }
          await settle(store, consumer);
          expect(consumer.error).to.equal(undefined);
          expect(consumer.copy).to.deep.equal(await store.history(ADA));
        }),
        { numRuns: RUNS },
      )).timeout(600_000);
  });
}
