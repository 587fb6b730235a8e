/**
 * A store that breaks the rules of its port without any input or output, so that only microtasks
 * run.
 */
import { expect } from 'chai';
import {
  Aggregates,
  type AppendResult,
  BEGINNING,
  type EventStore,
  type Head,
  type ReadResult,
  type StoredEvent,
  readHistory,
  subscribe,
} from '../../src/event-sourcing';
import { streamName } from '../../src/testing/streams';
import { ManualClock, untilIdle } from '../support/manual-clock';
import { rejection } from '../support/rejection';
import { codec, counterKind, encoded } from './counter';
import { TIMEOUT_MS } from './one-aggregate';
import { Pending } from './script';

const MAX_CALLS = 10_000;

const page = (versions: number[], more: boolean) => ({
  status: 'read' as const,
  events: versions.map((version) => ({ version, commit: `${version}`, ...encoded(1) })),
  more,
});

interface Results {
  read?(after: Head): ReadResult;
  append?(): AppendResult;
}

/**
 * Every way to read or write one stream of such a store, and the number of calls that the store
 * got.
 */
function given({ read = () => page([], false), append }: Results) {
  let calls = 0;
  // After many calls it fails, so that a test that would never end does.
  const count = () => ++calls > MAX_CALLS && expect.fail('called without end');
  const store: EventStore = {
    read: async (_, after) => (count(), read(after)),
    append: async () => (count(), append!()),
  };
  const ada = streamName('ada');
  const clock = new ManualClock();
  const counters = new Aggregates({
    store,
    clock,
    mintCommit: () => 'commit',
    timeoutMs: TIMEOUT_MS,
  });
  return {
    store,
    clock,
    calls: () => calls,
    query: () => counters.query(counterKind, 'ada', (sum) => sum),
    execute: () => counters.execute(counterKind, 'ada', 1),
    readHistory: () => readHistory(store, ada, codec).next(),
    subscribe: () => subscribe({ store }, ada, BEGINNING, { codec, clock }).next(),
  };
}

describe('A store in the same process that breaks a rule of the port', () => {
  const end = page([], false);
  const withoutTexts = {
    read: () => ({ ...end, events: [{ version: 1, commit: '1' } as StoredEvent] }),
  };
  const conflict = { append: () => ({ ...end, status: 'conflict' as const }) };
  const READS = ['query', 'readHistory', 'subscribe'] as const;
  const EMPTY = 'Error: the store returned a page with `more` that has no event after version 0';
  const TEXTS = 'Error: the store returned event 1 without the texts `type` and `data`';
  const CONFLICT = 'Error: the store returned a conflict without the events that are in conflict';
  const GAP = 'UnreadableHistory: event 2 found, expected version 1';
  const REPETITION = 'UnreadableHistory: event 1 found, expected version 2';
  for (const [what, calls, message, results] of [
    ['an empty page with `more`', READS, EMPTY, { read: () => page([], true) }],
    ['an event without texts', ['query'], TEXTS, withoutTexts],
    ['a conflict without events', ['execute'], CONFLICT, conflict],
    ['a gap between two versions', READS, GAP, { read: () => page([2], false) }],
    ['a repeated version', READS, REPETITION, { read: () => page([1, 1], false) }],
  ] satisfies [string, readonly ((typeof READS)[number] | 'execute')[], string, Results][])
    for (const call of calls)
      it(`fails ${call} after a few calls if it returns ${what}`, async () => {
        const one = given(results);
        expect(String(await rejection(one[call]()))).to.equal(message);
        expect(one.calls()).to.be.below(10);
      });

  const reset = () => ({ status: 'reset' }) as const;
  for (const [call, results] of [
    ['query', { read: reset }],
    ['execute', { append: reset }],
  ] satisfies ['query' | 'execute', Results][])
    it(`is called with pauses until the deadline of the request if it answers each ${call} with a reset`, async () => {
      const one = given(results);
      const request = new Pending(one[call]());
      await one.clock.pass(TIMEOUT_MS);
      expect(request.outcome).to.equal('StoreUnavailable');
      const calls = one.calls();
      expect(calls).to.be.below(15);
      await one.clock.pass(3 * TIMEOUT_MS);
      expect(one.calls()).to.be.at.most(calls + 1);
    });

  it('fails a query with its error, and a command as OutcomeUnknown, if it throws instead of rejecting', async () => {
    const { store, query, execute } = given({});
    store.read = store.append = () => {
      throw new TypeError('not connected');
    };
    expect(await rejection(query())).to.have.property('name', 'TypeError');
    expect(await rejection(execute())).to.have.property('name', 'OutcomeUnknown');
  });

  it('does not block timers while a long history is loaded', async () => {
    const one = given({ read: ({ version }) => page([version + 1], true) });
    new Pending(one.query());
    await untilIdle();
    expect(one.calls()).to.be.below(50);
  });
});
