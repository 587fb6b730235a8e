/** The memory that all aggregates share: which are evicted, and which are served. */
import { expect } from 'chai';
import { MemoryEventStore } from '../../src/adapters/memory';
import { Aggregates } from '../../src/event-sourcing';
import { ManualClock } from '../support/manual-clock';
import { PendingRequest } from '../support/pending-request';
import { ScriptedStore } from '../support/scripted-store';
import { changed, codec, counterKind } from './counter';

/** Room for two streams with a sum of 100, which take 10,000 bytes and 2,048 each, and not for three. */
const MAX_BYTES = 25_000;

function given() {
  const clock = new ManualClock();
  const store = new ScriptedStore(codec, () => new MemoryEventStore(1));
  store.held = false;
  const counters = new Aggregates({
    store,
    clock,
    mintCommit: () => 'a commit',
    timeoutMs: 1000,
    maxBytes: MAX_BYTES,
  });
  const record = (id: string, ...sums: number[]) => store.record(`counters/${id}`, ...sums.map(changed));
  const query = (id: string) =>
    new PendingRequest(
      counters.query(counterKind, id, (sum) => sum),
      (sum) => `${sum}`,
    );
  /** Queries streams, each after the one before it; resolves with the outcomes. */
  const queryInTurn = async (...ids: string[]) => {
    const outcomes = [];
    for (const id of ids) {
      const pending = query(id);
      await clock.pass(0);
      outcomes.push(pending.outcome);
    }
    return outcomes;
  };
  return { clock, store, counters, record, query, queryInTurn };
}

describe('The memory of aggregates', () => {
  it('is bounded in bytes: the least recently used ones are evicted, and loaded again', async () => {
    const { counters, record, queryInTurn } = given();
    for (const id of ['a', 'b', 'c']) await record(id, 100);
    expect(await queryInTurn('a', 'b', 'a', 'c')).to.deep.equal(['100', '100', '100', '100']);
    expect(counters.usage).to.include({ streams: 2, bytes: 24_096, hits: 1, misses: 3, evictions: 1 });
    expect(await queryInTurn('a', 'b')).to.deep.equal(['100', '100']);
    expect(counters.usage).to.include({ streams: 2, bytes: 24_096, hits: 2, misses: 4, evictions: 2 });
  });

  it('has no room for two large states at a time, which are served one after the other', async () => {
    const { counters, record, queryInTurn } = given();
    for (const id of ['a', 'b']) await record(id, 100, 100);
    expect(await queryInTurn('a', 'b', 'a', 'b')).to.deep.equal(['200', '200', '200', '200']);
    expect(counters.usage).to.include({ streams: 1, bytes: 22_048 });
  });

  it('serves one of two large states that are loaded at the same time', async () => {
    const { clock, record, query, queryInTurn } = given();
    for (const id of ['a', 'b']) await record(id, 100, 100);
    const both = [query('a'), query('b')];
    await clock.pass(0);
    expect(both.map(({ outcome }) => outcome).sort()).to.deep.equal(['200', 'StoreUnavailable']);
    const refused = both.find(({ error }) => error !== undefined)!;
    expect(refused.error).to.have.property('reason', 'loading');
    expect(await queryInTurn('a', 'b')).to.deep.equal(['200', '200']);
  });

  it('keeps a history that is loading while no request waits for it, until it is loaded', async () => {
    const { clock, store, counters, record, query, queryInTurn } = given();
    await record('a', 60, 60);
    for (const id of ['b', 'c']) await record(id, 100);
    store.held = true;
    const early = query('a');
    await store.sole.answer();
    await clock.pass(1000);
    expect(early.outcome).to.equal('StoreUnavailable');
    const secondPage = store.sole;
    store.held = false;
    await queryInTurn('b', 'c');
    expect(counters.usage).to.include({ streams: 2, evictions: 1 });
    await secondPage.answer();
    store.requests.length = 0;
    expect(await queryInTurn('a')).to.deep.equal(['120']);
    expect(store.requests.map(({ after }) => after.version)).to.deep.equal([2]);
  });
});
