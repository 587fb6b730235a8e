/** A store that breaks the rules of its port without any input or output, so that only microtasks run. */
import { expect } from 'chai';
import { systemClock } from '../../src/adapters/system';
import {
  Aggregates,
  type AppendResult,
  BEGINNING,
  type EventStore,
  type Head,
  type ReadResult,
  StoreUnavailable,
  type StoredEvent,
  UnreadableHistory,
  replay,
  subscribe,
} from '../../src/event-sourcing';
import { streamName } from '../../src/testing/a-stream';
import { patient } from '../support/patience';
import { rejection } from '../support/rejection';
import { codec, counterKind, encoded } from './counter';

const TIMEOUT_MS = patient(100);
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

const read = (versions: number[], more: boolean): ReadResult => ({
  status: 'read',
  events: versions.map((version) => ({ version, commit: `${version}`, ...encoded(1) })),
  more,
});

/** Every way to read or write one stream. */
function callsOf(store: EventStore) {
  const counters = new Aggregates({
    store,
    clock: systemClock,
    mintCommit: () => 'commit',
    timeoutMs: TIMEOUT_MS,
  });
  return {
    query: () => counters.query(counterKind, 'ada', (sum) => sum),
    execute: () => counters.execute(counterKind, 'ada', 1),
    replay: () => replay(store, ada, codec).next(),
    subscribe: () => subscribe({ store }, ada, BEGINNING, { codec, clock: systemClock }).next(),
  };
}

describe('A store in this process that breaks a rule of the port', () => {
  // The clock of the engine keeps no process alive.
  let alive: NodeJS.Timeout;
  before(() => (alive = setInterval(() => {}, 1000)));
  after(() => clearInterval(alive));

  const emptyPage = 'the store returned a page with `more` that has no event after version';
  const bugs: readonly (readonly [
    what: string,
    Answers,
    message: string,
    calls: (keyof ReturnType<typeof callsOf>)[],
  ])[] = [
    [
      'an empty page with `more`',
      { read: () => read([], true) },
      `${emptyPage} 0`,
      ['query', 'replay', 'subscribe'],
    ],
    [
      'an empty page with `more` behind the first page',
      { read: ({ version }) => (version === 0 ? read([1], true) : read([], true)) },
      `${emptyPage} 1`,
      ['query'],
    ],
    [
      'an event without `type` and `data`, as a store that keeps events as objects returns it',
      { read: () => ({ status: 'read', events: [{ version: 1, commit: '1' } as StoredEvent], more: false }) },
      'the store returned event 1 without the texts `type` and `data`',
      ['query', 'replay', 'subscribe'],
    ],
    [
      'a conflict without events',
      { read: () => read([], false), append: () => ({ status: 'conflict', events: [], more: false }) },
      'the store returned a conflict without the events that are in conflict',
      ['execute'],
    ],
  ];
  for (const [what, answers, message, calls] of bugs)
    for (const call of calls)
      it(`fails ${call} as a bug, and is not called without end: ${what}`, async () => {
        const store = new BrokenStore(answers);
        expect(await rejection(callsOf(store)[call]())).to.include({ name: 'Error', message });
        expect(store.calls).to.be.below(10);
      });

  const gap = { ...BEGINNING, read: () => read([2], false) };
  for (const call of ['query', 'replay', 'subscribe'] as const)
    it(`fails ${call} with an unreadable history: a gap between two versions`, async () => {
      const error = await rejection(callsOf(new BrokenStore(gap))[call]());
      expect(error).to.include({ name: 'UnreadableHistory', message: 'event 2 found, expected version 1' });
    });

  const losses: Readonly<Record<string, Answers>> = {
    'each read is a reset': { read: () => ({ status: 'reset' }) },
    'each second page is a reset': {
      read: ({ version }) => (version === 0 ? read([1], true) : { status: 'reset' }),
    },
    'each append is a reset': { read: () => read([], false), append: () => ({ status: 'reset' }) },
  };
  for (const [what, answers] of Object.entries(losses))
    it(`is called with pauses, until the deadline of the request: ${what}`, async () => {
      const store = new BrokenStore(answers);
      const error = await rejection(callsOf(store)[answers.append ? 'execute' : 'query']());
      expect(error).to.be.instanceOf(StoreUnavailable).and.not.to.be.instanceOf(UnreadableHistory);
      const { calls } = store;
      expect(calls).to.be.below(50);
      await new Promise((resolve) => setTimeout(resolve, 3 * TIMEOUT_MS));
      expect(store.calls).to.be.at.most(calls + 1);
    });

  it('fails each call with its error if it throws instead of rejecting', async () => {
    const store = new BrokenStore({ read: () => read([], false) });
    store.read = store.append = () => {
      throw new TypeError('not connected');
    };
    expect(await rejection(callsOf(store).query())).to.include({ name: 'TypeError' });
    expect(await rejection(callsOf(store).execute())).to.include({ name: 'OutcomeUnknown' });
  });

  it('lets timers run while a long history is loaded', async () => {
    let expired = false;
    const store = new BrokenStore({ read: ({ version }) => read([version + 1], !expired) });
    const loaded = callsOf(store).query();
    const error = await rejection(loaded.finally(() => (expired = true)));
    expect(error).to.have.property('reason', 'loading');
  });
});
