/** A store that breaks the rules of its port without any input or output, so that only microtasks run. */
import { expect } from 'chai';
import { setTimeout as pause } from 'node:timers/promises';
import { systemClock } from '../../src/adapters/system/clock';
import {
  Aggregate,
  type AppendResult,
  BEGINNING,
  type EventStore,
  type Head,
  type ReadResult,
  type StoredEvent,
  StoreUnavailable,
  UnreadableHistory,
  replay,
  subscribe,
} from '../../src/event-sourcing';
import { streamName } from '../../src/testing/a-stream';
import { patient } from '../support/patience';
import { rejection } from '../support/rejection';
import {
  type LabelEvent,
  type Labels,
  type Rejection,
  codec,
  created,
  encoded,
  labels,
  listing,
} from './labels';

const TIMEOUT_MS = 100;
const MAX_CALLS = 10_000;
const ada = streamName('ada');

interface Answers {
  read(after: Head): ReadResult;
  append?(): AppendResult;
}

/** After many calls it fails, so that a test that would never end does. */
class BrokenStore implements EventStore {
  calls = 0;

  constructor(private readonly answers: Answers) {}

  async read(_: string, after: Head): Promise<ReadResult> {
    this.#count();
    return this.answers.read(after);
  }

  async append(): Promise<AppendResult> {
    this.#count();
    return this.answers.append!();
  }

  #count(): void {
    if (++this.calls > MAX_CALLS) throw new RangeError('called without end');
  }
}

const aggregateOf = (store: BrokenStore) =>
  new Aggregate<LabelEvent, LabelEvent, Rejection, Labels>(ada, labels, {
    store,
    codec,
    clock: systemClock,
    mintCommit: () => 'commit',
    timeoutMs: TIMEOUT_MS,
    maxWaiting: 10,
  });
const read = (events: number[], more: boolean): ReadResult => ({
  status: 'read',
  events: events.map((version) => ({
    version,
    commit: `${version}`,
    ...encoded(created(version, 'Fern'))[0]!,
  })),
  more,
});

describe('A store in this process that breaks a rule of the port', () => {
  // The clock of the engine keeps no process alive.
  let alive: NodeJS.Timeout;
  before(() => (alive = setInterval(() => {}, 1000)));
  after(() => clearInterval(alive));

  const emptyPages: Readonly<Record<string, Answers['read']>> = {
    'an empty page with `more`': () => read([], true),
    'an empty page with `more` behind the first page': ({ version }) =>
      version === 0 ? read([1], true) : read([], true),
  };
  for (const [what, answer] of Object.entries(emptyPages)) {
    it(`fails a query as a bug, and is not read without end: ${what}`, async () => {
      const store = new BrokenStore({ read: answer });
      const error = await rejection(aggregateOf(store).query(listing));
      expect(error).to.have.property('message').that.contains('the store returned a page');
      expect(error).not.to.be.instanceOf(StoreUnavailable);
      expect(store.calls).to.be.below(10);
    });
  }

  it('fails replay and subscribe as a bug: an empty page with `more`', async () => {
    const store = new BrokenStore({ read: () => read([], true) });
    const message = 'the store returned a page with `more` that has no event after version 0';
    for (const events of [
      replay(store, ada, codec),
      subscribe(store, ada, BEGINNING, { codec, clock: systemClock }),
    ])
      expect(await rejection(events.next())).to.have.property('message', message);
    expect(store.calls).to.equal(2);
  });

  it('fails each call as a bug: an event without `type` and `data`', async () => {
    // As a store that keeps events as objects would return it.
    const event = { version: 1, commit: '1', event: created(1, 'Fern') } as unknown as StoredEvent;
    const store = new BrokenStore({ read: () => ({ status: 'read', events: [event], more: false }) });
    const message = 'the store returned event 1 without the texts `type` and `data`';
    for (const call of [
      aggregateOf(store).query(listing),
      replay(store, ada, codec).next(),
      subscribe(store, ada, BEGINNING, { codec, clock: systemClock }).next(),
    ])
      expect(await rejection(call)).to.include({ name: 'Error', message });
  });

  it('leaves the outcome of a command unknown, and is not called without end: a conflict without events', async () => {
    const store = new BrokenStore({
      read: () => read([], false),
      append: () => ({ status: 'conflict', events: [], more: false }),
    });
    const error = await rejection(aggregateOf(store).execute(created(1, 'Fern')));
    expect(error).to.have.property(
      'message',
      'the store returned a conflict without the events that are in conflict',
    );
    expect(store.calls).to.be.below(10);
  });

  const losses: Readonly<Record<string, Answers>> = {
    'each read is a reset': { read: () => ({ status: 'reset' }) },
    'each second page is a reset': {
      read: ({ version }) => (version === 0 ? read([1], true) : { status: 'reset' }),
    },
    'each append is a reset': { read: () => read([], false), append: () => ({ status: 'reset' }) },
    'each append finds the beginning archived': {
      read: () => read([], false),
      append: () => ({ status: 'archived' }),
    },
  };
  for (const [what, answers] of Object.entries(losses)) {
    it(`is called with pauses, until the deadline of the request: ${what}`, async () => {
      const store = new BrokenStore(answers);
      const aggregate = aggregateOf(store);
      let timers = 0;
      const ticking = setInterval(() => timers++, 5);
      const work = answers.append ? aggregate.execute(created(1, 'Fern')) : aggregate.query(listing);
      const error = await rejection(work);
      clearInterval(ticking);
      expect(error).to.be.instanceOf(StoreUnavailable).and.not.to.be.instanceOf(UnreadableHistory);
      expect(timers).to.be.above(2);
      const { calls } = store;
      expect(calls).to.be.below(50);
      await pause(3 * TIMEOUT_MS);
      expect(store.calls).to.be.at.most(calls + 1);
    });
  }

  it('lets timers run while a long history is loaded', async () => {
    const started = performance.now();
    const until = started + patient(500);
    const store = new BrokenStore({
      read({ version }) {
        const busyUntil = performance.now() + 5;
        while (performance.now() < busyUntil);
        return read([version + 1], performance.now() < until);
      },
    });
    const loaded = aggregateOf(store).query(listing);
    expect(await rejection(loaded)).to.have.property('reason', 'loading');
    expect(performance.now() - started).to.be.below(patient(400));
  });
});
