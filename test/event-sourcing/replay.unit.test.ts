import { expect } from 'chai';
import { MemoryEventStore } from '../../src/adapters/memory/event-store';
import {
  ArchivedHistory,
  BEGINNING,
  type Head,
  HistoryChanged,
  UnreadableHistory,
  headOf,
  recordedEvent,
  replay,
} from '../../src/event-sourcing';
import { streamName } from '../../src/testing/a-stream';
import { oldGrowth } from '../support/heap';
import { ScriptedStore } from '../support/scripted-store';
import { type LabelEvent, codec, created } from './labels';

const ADA = streamName('ada');

/** The versions that a replay yields, page by page, and the error that ends it. */
async function replayed(store: ScriptedStore<LabelEvent>, after?: Head) {
  const pages: number[][] = [];
  try {
    for await (const page of replay(store, ADA, codec, after)) pages.push(page.map(({ version }) => version));
  } catch (error) {
    return { pages, error };
  }
  return { pages };
}

async function given(...events: LabelEvent[]) {
  const store = new ScriptedStore(codec, () => new MemoryEventStore(2));
  store.held = false;
  await store.record('ada', ...events);
  return { store, history: await store.history('ada') };
}

describe('A replay', () => {
  const events = [created(1, 'Fern'), created(2, 'Ivy'), created(3, 'Moss')];

  it('yields the events after a head page by page, from the beginning by default', async () => {
    const { store, history } = await given(...events);
    expect(await replayed(store)).to.deep.equal({ pages: [[1, 2], [3]] });
    expect(await replayed(store, history[0])).to.deep.equal({ pages: [[2, 3]] });
    expect(await replayed(store, history[2])).to.deep.equal({ pages: [[]] });
    expect(store.requests.map(({ after }) => after.version)).to.deep.equal([0, 2, 1, 3]);
  });

  it('yields events that are garbage without a full collection', async () => {
    const stored = { version: 1, commit: 'a', type: 'Created', data: '{}' };
    const fern = created(1, 'Fern');
    const decoding = { ...codec, decode: () => fern };
    const grown = await oldGrowth(() => {
      for (let count = 0; count < 100_000; count++) recordedEvent(decoding, stored);
    });
    expect(grown).to.be.below(1_000_000);
  });

  it('says which head was lost', async () => {
    const { store, history } = await given(...events);
    await store.loseTail('ada', 1);
    const { error } = await replayed(store, history[1]);
    expect(error).to.be.instanceOf(HistoryChanged);
    expect(error).to.include({
      name: 'HistoryChanged',
      message: `event 2 of commit ${history[1]!.commit} is not in the history: it was erased or lost`,
    });
    expect((error as HistoryChanged).head).to.deep.equal(headOf(history[1]!));
  });

  it('says after which head the events were archived', async () => {
    const { store } = await given(...events);
    store.archive('ada', 2);
    const { error } = await replayed(store);
    expect(error).to.be.instanceOf(ArchivedHistory);
    expect(error).to.include({
      name: 'ArchivedHistory',
      message: 'the events after version 0 are archived',
    });
    expect((error as ArchivedHistory).head).to.deep.equal(BEGINNING);
  });

  it('stops at a gap between two versions', async () => {
    const { store, history } = await given(...events);
    store.read = async () => ({ status: 'read', events: [history[0]!, history[2]!], more: false });
    const { pages, error } = await replayed(store);
    expect(pages).to.deep.equal([]);
    expect(error).to.be.instanceOf(UnreadableHistory);
    expect(error).to.include({ message: 'event 3 found, expected version 2' });
  });

  it('handles the rejection of a prefetched page when its caller has stopped', async () => {
    const store = new ScriptedStore(codec, () => new MemoryEventStore(1));
    await store.record('ada', created(1, 'Fern'), created(2, 'Ivy'));
    const pages = replay(store, ADA, codec);
    const first = pages.next();
    await store.sole.answer();
    expect((await first).value).to.have.length(1);
    await pages.return(undefined);

    // An unhandled rejection fails the test.
    await store.sole.lose();
  });
});
