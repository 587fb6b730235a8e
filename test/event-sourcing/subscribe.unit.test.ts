import { getEventListeners } from 'node:events';
import { expect } from 'chai';
import { MemoryEventStore } from '../../src/adapters/memory/event-store';
import {
  ArchivedHistory,
  BEGINNING,
  type EventStore,
  HistoryChanged,
  UnreadableHistory,
  headOf,
  subscribe,
} from '../../src/event-sourcing';
import { streamName } from '../../src/testing/a-stream';
import { ManualClock } from '../support/manual-clock';
import { ScriptedStore } from '../support/scripted-store';
import { warningsDuring } from '../support/warnings';
import { ADA, OneSubscription } from './one-subscription';
import { type LabelEvent, codec, created, encoded, ferns } from './labels';

/** The store without notifications. */
function withoutNotify(store: ScriptedStore<LabelEvent>): EventStore {
  return {
    read: (...args) => store.read(...args),
    append: (...args) => store.append(...args),
  };
}

/** How soon a subscriber sees an event. */
const KINDS = [
  { kind: 'a store that notifies', of: (store: ScriptedStore<LabelEvent>) => store, withinMs: 0 },
  { kind: 'a store that does not notify', of: withoutNotify, withinMs: 200 },
];

for (const { kind, of, withinMs } of KINDS) {
  describe(`A subscription to ${kind}`, () => {
    let store: ScriptedStore<LabelEvent>;
    beforeEach(() => {
      store = new ScriptedStore(codec, () => new MemoryEventStore(2));
      store.held = false;
    });
    const subscription = (...args: [after?: { version: number; commit: string }]) =>
      new OneSubscription(of(store), ...args);

    it('has the recorded events in order, and then each new one', async () => {
      await store.record('ada', ...ferns(5));
      const consumer = await subscription().takeAll();
      expect(consumer.taken).to.deep.equal(await store.history('ada'));
      for (const name of ['Moss', 'Ivy']) {
        await store.record('ada', created(9, name));
        await consumer.clock.pass(withinMs);
        expect(consumer.taken).to.deep.equal(await store.history('ada'));
      }
    });

    it('begins after the head that it gets, also within a commit', async () => {
      await store.append('ada', { version: 0, commit: '' }, 'a commit', encoded(...ferns(3)));
      const { versions } = await subscription({ version: 2, commit: 'a commit' }).takeAll();
      expect(versions).to.deep.equal([3]);
    });

    it('waits for a stream that does not exist yet', async () => {
      const consumer = await subscription().takeAll();
      await consumer.clock.pass(60_000);
      await store.record('ada', created(1, 'Fern'));
      await consumer.clock.pass(withinMs);
      expect(consumer.versions).to.deep.equal([1]);
    });

    it('reads again while the store is unavailable, and reports it once', async () => {
      const consumer = await subscription().takeAll();
      for (let outage = 1; outage <= 2; outage++) {
        store.held = true;
        await store.record('ada', created(outage, 'Fern'));
        await consumer.clock.pass(withinMs);
        for (let attempt = 0; attempt < 3; attempt++) {
          await store.sole.refuse();
          await consumer.clock.pass(200);
        }
        store.held = false;
        await store.sole.answer();
        expect(consumer.unavailable).to.have.length(outage);
        expect(consumer.versions.at(-1)).to.equal(outage);
      }
    });

    it('reads again if a read has no outcome within ten seconds, and ignores that of the first one', async () => {
      await store.record('ada', created(1, 'Fern'));
      store.held = true;
      const consumer = await subscription().takeAll();
      const [unanswered] = store.calls;
      await consumer.clock.pass(10_200);
      expect(consumer.unavailable).to.deep.equal(['the store does not answer']);
      await store.calls[1]!.answer();
      await unanswered!.answer();
      expect(consumer.versions).to.deep.equal([1]);
    });

    it('fails with HistoryChanged, which has the head, if that is not in the history', async () => {
      await store.record('ada', ...ferns(3));
      const lost = { version: 3, commit: 'of another history' };
      const { end } = await subscription(lost).takeAll();
      expect(end).to.be.instanceOf(HistoryChanged).with.deep.property('head', lost);
      expect(end)
        .to.have.property('message')
        .that.contains('event 3 of commit of another history is not in the history');
    });

    it('fails with HistoryChanged within five seconds of a failover that loses events', async () => {
      await store.record('ada', ...ferns(3));
      const consumer = await subscription().takeAll();
      const last = headOf(consumer.taken.at(-1)!);
      await store.loseTail('ada', 2);
      await store.record('ada', created(7, 'Moss'));
      await consumer.clock.pass(5000);
      expect(consumer.end).to.be.instanceOf(HistoryChanged).with.deep.property('head', last);
      expect(consumer.held).to.equal(0);
    });

    it('fails with ArchivedHistory, which has the head, if the next event was archived', async () => {
      await store.record('ada', ...ferns(4));
      const [first, , third] = await store.history('ada');
      store.archive('ada', 3);
      const consumer = await subscription(headOf(first!)).takeAll();
      expect(consumer.end).to.be.instanceOf(ArchivedHistory).with.deep.property('head', headOf(first!));
      expect([(consumer.end as Error).message, consumer.held]).to.deep.equal([
        'the events after version 1 are archived',
        0,
      ]);
      expect((await subscription(headOf(third!)).takeAll()).versions).to.deep.equal([4]);
    });

    it('fails with UnreadableHistory if the store skips or repeats a version', async () => {
      for (const version of [0, 1, 3]) {
        await store.loseTail('ada', 0);
        await store.record('ada', created(1, 'Fern'));
        const consumer = await subscription().takeAll();
        store.held = true;
        await consumer.clock.pass(5000);
        const event = { version, commit: 'a commit', ...encoded(created(2, 'Moss'))[0]! };
        await store.sole.answerWith({ status: 'read', events: [event], more: false });
        expect(consumer.end, String(version)).to.be.instanceOf(UnreadableHistory);
        expect(consumer.versions).to.deep.equal([1]);
        store.held = false;
      }
    });

    it('fails with an unreadable event, and with a bug of the store', async () => {
      for (const error of [new UnreadableHistory('of a later version'), new TypeError('a bug')]) {
        store.held = true;
        const consumer = await subscription().takeAll();
        await store.sole.fail(error);
        expect(consumer.end).to.equal(error);
        expect([consumer.held, consumer.unavailable]).to.deep.equal([0, []]);
      }
    });

    it('holds one page, and reads the next one when it has been taken', async () => {
      await store.record('ada', ...ferns(5));
      const consumer = subscription();
      const reads = [];
      for (let taken = 0; taken < 5; taken++) {
        consumer.next();
        await consumer.clock.pass(10_000);
        reads.push(store.requests.length);
      }
      expect(reads).to.deep.equal([1, 1, 2, 2, 3]);
      expect(consumer.versions).to.deep.equal([1, 2, 3, 4, 5]);
    });

    it('holds nothing while the consumer processes an event', async () => {
      await store.record('ada', created(1, 'Fern'));
      const consumer = subscription();
      consumer.next();
      await consumer.clock.pass(0);
      expect([consumer.versions, consumer.held, store.subscribers]).to.deep.equal([[1], 0, 0]);
    });

    describe('ends without an error and holds nothing', () => {
      const mustHaveEnded = (consumer: OneSubscription) =>
        expect([consumer.end, consumer.held, store.subscribers]).to.deep.equal(['done', 0, 0]);

      it('when the signal was aborted before', async () => {
        const consumer = subscription();
        consumer.signal.abort();
        await consumer.takeAll();
        mustHaveEnded(consumer);
        expect(store.requests).to.deep.equal([]);
      });

      it('when the signal is aborted while it waits', async () => {
        const consumer = await subscription().takeAll();
        expect(consumer.held).to.equal(2);
        consumer.signal.abort();
        await consumer.clock.pass(0);
        mustHaveEnded(consumer);
      });

      it('when the signal is aborted during a read, whose failure is then ignored', async () => {
        store.held = true;
        const consumer = await subscription().takeAll();
        consumer.signal.abort();
        await consumer.clock.pass(0);
        mustHaveEnded(consumer);
        await store.sole.failWithBug();
      });

      it('when the signal is aborted while the store is unavailable', async () => {
        store.held = true;
        const consumer = await subscription().takeAll();
        await store.sole.refuse();
        consumer.signal.abort();
        await consumer.clock.pass(0);
        mustHaveEnded(consumer);
      });

      it('when the signal is aborted between two events of a page', async () => {
        await store.record('ada', ...ferns(2));
        const consumer = subscription();
        consumer.next();
        await consumer.clock.pass(0);
        consumer.signal.abort();
        await consumer.takeAll();
        mustHaveEnded(consumer);
        expect(consumer.versions).to.deep.equal([1]);
      });

      it('when the consumer leaves its loop', async () => {
        await store.record('ada', ...ferns(2));
        const consumer = subscription();
        for await (const event of consumer.iterator) {
          consumer.taken.push(event);
          break;
        }
        await consumer.takeAll();
        mustHaveEnded(consumer);
        expect(consumer.versions).to.deep.equal([1]);
      });

      it('when return() is called while next() waits', async () => {
        const consumer = await subscription().takeAll();
        expect(await consumer.iterator.return!()).to.deep.equal({ value: undefined, done: true });
        mustHaveEnded(consumer);
      });

      it('when return() is called before the first next()', async () => {
        const consumer = subscription();
        await consumer.iterator.return!();
        await consumer.takeAll();
        mustHaveEnded(consumer);
        expect(store.requests).to.deep.equal([]);
      });
    });
  });
}

for (const { title, streams } of [
  { title: 'Fifty subscriptions to one stream with one signal', streams: 1 },
  { title: 'Fifty subscriptions to fifty streams with one signal', streams: 50 },
]) {
  describe(title, () => {
    it('cause no warning, end when it is aborted, and leave no listener', async () => {
      const store = new MemoryEventStore();
      const clock = new ManualClock();
      const controller = new AbortController();
      const { signal } = controller;
      const taken: number[] = [];
      const follow = async (index: number) => {
        const stream = streamName(`user ${index % streams}`);
        for await (const { version } of subscribe(store, stream, BEGINNING, {
          codec,
          clock,
          signal,
        }))
          taken.push(version);
      };
      const warnings = await warningsDuring(async () => {
        const ended = Promise.all(Array.from({ length: 50 }, (_, index) => follow(index)));
        await clock.pass(0);
        for (let index = 0; index < streams; index++)
          await store.append(streamName(`user ${index}`), BEGINNING, 'a commit', encoded(...ferns(1)));
        await clock.pass(0);
        expect(taken).to.have.length(50);
        controller.abort();
        await ended;
      });
      expect(warnings).to.deep.equal([]);
      expect(getEventListeners(signal, 'abort')).to.be.empty;
    });
  });
}

describe('A subscription to a store that notifies', () => {
  it('finds within five seconds an event whose notification was missed', async () => {
    const store = new ScriptedStore(codec);
    store.held = false;
    const consumer = await new OneSubscription(store).takeAll();
    store.notifies = false;
    await store.record('ada', created(1, 'Fern'));
    await consumer.clock.pass(4900);
    expect(consumer.versions).to.deep.equal([]);
    await consumer.clock.pass(100);
    expect(consumer.versions).to.deep.equal([1]);
  });

  it('polls once after a notification without a change, which the store may repeat at once', async () => {
    const store = new ScriptedStore(codec);
    store.held = false;
    store.notify = (_stream, _after, changed) => {
      changed();
      return () => {};
    };
    const consumer = await new OneSubscription(store).takeAll();
    await consumer.clock.pass(1000);
    expect(store.requests.length).to.be.within(10, 14);
    await store.record('ada', created(1, 'Fern'));
    await consumer.clock.pass(200);
    expect(consumer.versions).to.deep.equal([1]);
  });
});

describe('The notification of the memory store', () => {
  const HEAD = { version: 1, commit: 'a commit' };
  let store: MemoryEventStore;
  let calls: number;
  const changed = () => {
    calls++;
  };
  beforeEach(async () => {
    store = new MemoryEventStore();
    calls = 0;
    await store.append(ADA, { version: 0, commit: '' }, 'a commit', encoded(...ferns(1)));
  });

  it('comes at once if the head is not the last one, or not in the history', () => {
    store.notify(ADA, { version: 0, commit: '' }, changed);
    store.notify(ADA, { version: 1, commit: 'another' }, changed);
    store.notify(ADA, { version: 2, commit: 'later' }, changed);
    expect(calls).to.equal(3);
  });

  it('comes once, with the next append to the stream', async () => {
    store.notify(ADA, HEAD, changed);
    expect(calls).to.equal(0);
    await store.append(ADA, HEAD, 'another', encoded(...ferns(2)));
    expect(calls).to.equal(1);
    await store.append(ADA, { version: 3, commit: 'another' }, 'a third', encoded(...ferns(1)));
    expect(calls).to.equal(1);
  });

  it('comes when the stream is erased', async () => {
    store.notify(ADA, HEAD, changed);
    await store.erase(ADA);
    expect(calls).to.equal(1);
  });

  it('does not come after it was cancelled', async () => {
    store.notify(ADA, HEAD, changed)();
    await store.append(ADA, HEAD, 'another', encoded(...ferns(1)));
    expect(calls).to.equal(0);
  });
});
