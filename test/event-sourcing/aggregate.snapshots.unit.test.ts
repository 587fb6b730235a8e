import { expect } from 'chai';
import { BrokenSnapshot, type Head, SNAPSHOT_EVERY, type SnapshotOptions } from '../../src/event-sourcing';
import { SaveSlot } from '../../src/event-sourcing/loading/save-slot';
import { untilIdle } from '../support/manual-clock';
import { AWAY, type KeptSnapshot, MemorySnapshots } from '../support/memory-snapshots';
import { OneAggregate, settled } from './one-aggregate';
import { type LabelEvent, type Labels, created, deleted, labelsCodec, stateAfter } from './labels';

/** A history of which one label lives: `label 2`, then `label 4`, and so on. */
function history(events: number): LabelEvent[] {
  return Array.from({ length: events }, (_, index) =>
    index % 2 === 0 ? created(1, `label ${index + 2}`) : deleted(1),
  );
}

function snapshotOf(events: readonly LabelEvent[], head: Head): KeptSnapshot {
  return { format: labelsCodec.format, head, chunks: [...labelsCodec.encode(stateAfter(events))] };
}

const PAGE = 2;
const EVENTS = history(9);

/** A new aggregate over this history. */
async function given(options: Partial<SnapshotOptions<Labels>> = {}, past = EVENTS, maxBytes = Infinity) {
  const store = new MemorySnapshots();
  const snapshots = { store, codec: labelsCodec, every: 6, ...options };
  const fixture = new OneAggregate({ pageSize: PAGE, snapshots, maxBytes });
  await fixture.recordByOthers(...past);
  const headAt = async (version: number): Promise<Head> => {
    const { commit } = (await fixture.store.history('ada'))[version - 1]!;
    return { version, commit };
  };
  /** Lists; resolves with what was listed, and after which versions the history was read. */
  const list = async () => {
    fixture.store.requests.length = 0;
    fixture.store.held = false;
    const listed = fixture.list();
    await settled();
    return { outcome: listed.outcome, reads: fixture.store.requests.map(({ after }) => after.version) };
  };
  const observed = () => fixture.observed.filter((line) => line.includes('snapshot'));
  return { fixture, snapshots: store, headAt, list, observed };
}

const REPLAYED = { outcome: ['label 10'], reads: [0, 2, 4, 6, 8] };

describe('An aggregate with snapshots', () => {
  it('loads from the newest one, and reads only the events after it', async () => {
    const { snapshots, headAt, list, observed } = await given();
    snapshots.keep('ada', snapshotOf(EVENTS.slice(0, 7), await headAt(7)));

    expect(await list()).to.deep.equal({ outcome: ['label 10'], reads: [0, 7] });
    expect(observed()).to.deep.equal(['ada snapshot restored']);
  });

  it('loads from an old one, and replays the rest', async () => {
    const { snapshots, headAt, list } = await given();
    snapshots.keep('ada', snapshotOf(EVENTS.slice(0, 4), await headAt(4)));

    expect(await list()).to.deep.equal({ outcome: ['label 10'], reads: [0, 4, 6, 8] });
  });

  it('does not use one that is behind the first page', async () => {
    const { snapshots, headAt, list, observed } = await given({ every: Infinity });
    snapshots.keep('ada', snapshotOf(EVENTS.slice(0, PAGE), await headAt(PAGE)));

    expect(await list()).to.deep.equal(REPLAYED);
    expect(observed()).to.deep.equal([]);
  });

  it('loads from one at the end of the history', async () => {
    const { snapshots, headAt, list } = await given();
    snapshots.keep('ada', snapshotOf(EVENTS, await headAt(9)));

    expect(await list()).to.deep.equal({ outcome: ['label 10'], reads: [0, 9] });
  });

  it('detects that the history was lost after it', async () => {
    const { fixture, snapshots, headAt, list, observed } = await given();
    snapshots.keep('ada', snapshotOf(EVENTS.slice(0, 7), await headAt(7)));
    await list();
    await fixture.store.loseTail('ada', 6);

    expect((await list()).outcome).to.deep.equal([]);
    expect(fixture.observed).to.include('ada lost version 9');
    expect(observed()[1]).to.equal('ada snapshot ignored: the history does not have its head');
  });

  it('ignores it if the user was erased', async () => {
    const { fixture, snapshots, headAt, list, observed } = await given();
    snapshots.keep('ada', snapshotOf(EVENTS, await headAt(9)));
    await fixture.store.loseTail('ada', 0);
    expect(await list()).to.deep.equal({ outcome: [], reads: [0] });

    const later = await given();
    later.snapshots.keep('ada', snapshotOf([created(7, 'Erased')], { version: 9, commit: 'erased' }));
    expect((await later.list()).outcome).to.deep.equal(REPLAYED.outcome);
    expect(observed()).to.deep.equal([]);
  });

  it('refuses requests if its state does not fit into memory', async () => {
    const events = Array.from({ length: 30 }, (_, id) => created(id, 'Fern'));
    const { snapshots, headAt, list } = await given({}, events, 1000);
    snapshots.keep('ada', snapshotOf(events, await headAt(30)));
    expect(await list()).to.deep.equal({ outcome: 'StoreUnavailable', reads: [0] });
  });

  it('looks for none if the history fits into the first page', async () => {
    const { snapshots, list } = await given({}, EVENTS.slice(0, PAGE));

    expect(await list()).to.deep.equal({ outcome: [], reads: [0] });
    expect(snapshots.calls).to.deep.equal([]);
  });

  it('looks for none to catch up', async () => {
    const { fixture, snapshots, list } = await given({ every: Infinity });
    await list();
    snapshots.calls.length = 0;
    await fixture.recordByOthers(...history(9).slice(1));

    expect((await list()).outcome).to.deep.equal(['label 10']);
    expect(snapshots.calls).to.deep.equal([]);
  });

  it('uses it when its first request is a command, too', async () => {
    const { fixture, snapshots, headAt } = await given();
    snapshots.keep('ada', snapshotOf(EVENTS, await headAt(9)));
    fixture.store.held = false;
    const taken = fixture.create(1, 'Fern');
    const other = fixture.create(2, 'Moss');
    await settled();

    expect([taken.outcome, other.outcome]).to.deep.equal(['id-taken', 'created']);
    expect(fixture.store.requests.map(({ after }) => after.version)).not.to.include(6);
    expect(await fixture.recorded()).to.have.length(10);
  });

  const unusable: Record<string, [change: (usable: KeptSnapshot) => KeptSnapshot, readAfter: number[]]> = {
    'of another history': [(usable) => ({ ...usable, head: { ...usable.head, commit: 'lost' } }), [7]],
    'beyond the end of the history': [
      (usable) => ({ ...usable, head: { ...usable.head, version: 10 } }),
      [10],
    ],
    'of another format': [(usable) => ({ ...usable, format: 'labels-0' }), []],
    'that is torn': [({ chunks, ...usable }) => ({ ...usable, chunks: [chunks[0]!.slice(0, -9)] }), []],
    'that breaks a rule': [(usable) => ({ ...usable, chunks: ['[[1,"Fern"],[1,"Fern"]]'] }), []],
  };
  for (const [which, [change, readAfter]] of Object.entries(unusable)) {
    it(`ignores a snapshot ${which}, replays the history, and replaces the snapshot`, async () => {
      const { fixture, snapshots, headAt, list, observed } = await given();
      snapshots.keep('ada', change(snapshotOf(EVENTS.slice(0, 7), await headAt(7))));

      const { outcome, reads } = REPLAYED;
      const [first, ...others] = reads;
      expect(await list()).to.deep.equal({ outcome, reads: [first, ...readAfter, ...others] });
      expect(observed().join()).to.match(/^ada snapshot ignored: [^,]+(, [^,]+)?,ada snapshot saved$/);
      expect(fixture.observed.join()).not.to.contain('lost');
      expect(snapshots.newest('ada')).to.deep.equal(snapshotOf(EVENTS, await headAt(9)));
    });
  }

  it('ignores a snapshot that breaks at its last chunk', async () => {
    const { snapshots, headAt, list, observed } = await given();
    snapshots.keep('ada', snapshotOf(EVENTS, await headAt(9)));
    Object.assign(snapshots, {
      async *read({ chunks }: KeptSnapshot) {
        yield* chunks;
        throw new BrokenSnapshot('its checksum differs');
      },
    });

    expect(await list()).to.deep.equal(REPLAYED);
    expect(observed()).to.deep.equal(['ada snapshot ignored: its checksum differs', 'ada snapshot saved']);
  });

  it('ends the iteration of the chunks if one cannot be decoded', async () => {
    const { snapshots, headAt, list, observed } = await given();
    let ended = 0;
    const chunks = async function* () {
      try {
        yield 'no chunk';
        yield 'another one';
      } finally {
        ended++;
      }
    };
    const head = await headAt(7);
    snapshots.load = async () => ({ format: labelsCodec.format, head, chunks: chunks() });
    expect((await list()).outcome).to.deep.equal(REPLAYED.outcome);
    expect(observed()[0]).to.contain('ada snapshot ignored');
    expect(ended).to.equal(1);
  });

  it('replays the whole history if one breaks in a load that continues after a failed one', async () => {
    const { fixture, snapshots, headAt, list, observed } = await given({ every: Infinity });
    fixture.list();
    await settled();
    await fixture.store.calls[0]!.answer();
    await settled();
    // The first page stays in the state.
    await fixture.store.calls[0]!.refuse();
    snapshots.keep('ada', {
      ...snapshotOf(EVENTS, await headAt(9)),
      chunks: ['[[7,"Fern"]]', '[[7,"Fern"]]'],
    });

    const [, ...others] = REPLAYED.reads;
    expect(await list()).to.deep.equal({ outcome: REPLAYED.outcome, reads: [PAGE, 0, ...others] });
    expect(observed().join()).to.match(/^ada snapshot ignored: /);
  });

  it('replays the history while snapshots cannot be loaded, and saves one when they can', async () => {
    const { fixture, snapshots, list, observed } = await given();
    snapshots.fault = AWAY;
    expect(await list()).to.deep.equal(REPLAYED);
    expect(observed()).to.deep.equal(Array(2).fill(`ada snapshot failed: ${AWAY.message}`));

    snapshots.fault = undefined;
    await fixture.recordByOthers(...history(7).slice(1));
    await list();
    expect(snapshots.newest('ada')?.head.version).to.equal(15);
  });

  it('answers while the snapshot of its state is being saved, with later events', async () => {
    const { fixture, snapshots, list, headAt } = await given();
    await list();
    await fixture.recordByOthers(...history(7).slice(1));
    const listed = fixture.list();
    await untilIdle();
    fixture.create(2, 'Moss');
    await untilIdle();
    const later = fixture.list();
    await settled();

    expect([listed.outcome, later.outcome]).to.deep.equal([['label 8'], ['label 8', 'Moss']]);
    expect(snapshots.newest('ada')!.head.version).to.be.within(15, 16);
    const { version } = snapshots.newest('ada')!.head;
    const events = (await fixture.store.history('ada')).slice(0, version).map(({ event }) => event);
    expect(snapshots.newest('ada')).to.deep.equal(snapshotOf(events, await headAt(version)));
  });

  it('is not evicted while its state is being saved', async () => {
    const { fixture, snapshots, list } = await given({ every: Infinity });
    await list();
    expect(fixture.aggregate.evictable).to.equal(true);
    const saving = await given();
    saving.fixture.store.held = false;
    const listed = saving.fixture.list();
    while (listed.outcome === 'pending') await untilIdle();
    expect(saving.fixture.aggregate.evictable).to.equal(false);
    await settled();
    expect(saving.snapshots.newest('ada')?.head.version).to.equal(9);
    expect(saving.fixture.aggregate.evictable).to.equal(true);
    expect(snapshots.calls).to.deep.equal(['load ada']);
  });
});

describe('A snapshot is saved', () => {
  it('after every so many events, and not before', async () => {
    const { fixture, snapshots, list } = await given({ every: 6 }, history(5));
    const versions: (number | undefined)[] = [];
    for (let version = 5; version <= 13; version++) {
      await list();
      versions.push(snapshots.newest('ada')?.head.version);
      await fixture.recordByOthers(version % 2 === 0 ? created(1, 'Fern') : deleted(1));
    }
    expect(versions).to.deep.equal([undefined, 6, 6, 6, 6, 6, 6, 12, 12]);
  });

  it(`after ${SNAPSHOT_EVERY} events by default`, async () => {
    const { snapshots, list, fixture } = await given({ every: undefined });
    await list();
    expect(snapshots.kept).to.have.property('size', 0);
    expect(fixture.store.requests).not.to.be.empty;
  });

  it('after half as many events as items, if that is more', async () => {
    const events = Array.from({ length: 4 }, (_, id) => created(id, 'Fern'));
    const { fixture, snapshots, list } = await given({ every: 1 }, events);
    await list();
    const versions: (number | undefined)[] = [];
    for (let id = 4; id < 8; id++) {
      await fixture.recordByOthers(created(id, 'Fern'));
      await list();
      versions.push(snapshots.newest('ada')?.head.version);
    }
    expect(versions).to.deep.equal([4, 4, 4, 8]);
  });

  it('not if another instance has saved one meanwhile', async () => {
    const { fixture, snapshots, headAt, list } = await given({ every: 6 }, history(5));
    await list();
    await fixture.recordByOthers(created(2, 'Moss'));
    const others = snapshotOf([...history(5), created(2, 'Moss')], await headAt(6));
    snapshots.keep('ada', others);
    await list();
    expect(snapshots.calls.filter((call) => call.startsWith('save'))).to.deep.equal([]);
    expect(snapshots.newest('ada')).to.equal(others);
  });

  it('not if another instance has saved one since this one replaced an unusable one', async () => {
    const { fixture, snapshots, headAt, list } = await given();
    snapshots.keep('ada', { ...snapshotOf(EVENTS, await headAt(9)), chunks: ['['] });
    await list();
    await fixture.recordByOthers(...history(7).slice(1));
    const others = snapshotOf([...EVENTS, ...history(7).slice(1)], await headAt(15));
    snapshots.keep('ada', others);
    await list();
    expect(snapshots.newest('ada')).to.equal(others);
  });

  it('not if the history was lost meanwhile, and is being loaded again', async () => {
    const { fixture, snapshots, list, observed } = await given({}, history(5));
    await list();
    await fixture.recordByOthers(created(2, 'Moss'));
    let found = () => {};
    snapshots.load = () => new Promise((resolve) => (found = () => resolve(undefined)));
    await list();
    await fixture.store.loseTail('ada', 1);
    fixture.store.held = true;
    fixture.list();
    await fixture.store.sole.answer();
    await settled();
    found();
    await settled();
    expect(observed()).to.deep.equal([]);
    expect(snapshots.kept.size).to.equal(0);
  });

  it('not if the aggregate has started over meanwhile', async () => {
    const { fixture, snapshots, list } = await given({}, history(5));
    await list();
    await fixture.recordByOthers(created(2, 'Moss'));
    let found = () => {};
    snapshots.load = () => new Promise((resolve) => (found = () => resolve(undefined)));
    await list();
    fixture.store.held = true;
    const listed = fixture.list();
    await fixture.store.sole.fail(new TypeError('a bug of the store'));
    await settled();
    expect(listed.outcome).to.equal('TypeError');
    found();
    await settled();
    expect(snapshots.calls.filter((call) => call.startsWith('save'))).to.deep.equal([]);
  });

  it('in the background, of one stream at a time; of another one after its next round', async () => {
    const saves = new SaveSlot();
    const givenOne = () => {
      const store = new MemorySnapshots();
      const fixture = new OneAggregate({ snapshots: { store, codec: labelsCodec, every: 1 }, saves });
      fixture.store.held = false;
      return { fixture, store };
    };
    const [one, other] = [givenOne(), givenOne()];
    let endSave = () => {};
    const save = one.store.save.bind(one.store);
    one.store.save = async (...args) => {
      await new Promise<void>((resolve) => (endSave = resolve));
      return save(...args);
    };
    one.fixture.create(1, 'Fern');
    await settled();
    const listed = one.fixture.list();
    other.fixture.create(1, 'Moss');
    await settled();
    expect(listed.outcome).to.deep.equal(['Fern']);
    expect(other.store.newest('ada')).to.equal(undefined);

    endSave();
    await settled();
    other.fixture.list();
    await settled();
    expect([one, other].map(({ store }) => store.newest('ada')?.head.version)).to.deep.equal([1, 1]);
  });

  it('not again until it is due again, if the save failed', async () => {
    const { fixture, snapshots, list, observed } = await given();
    snapshots.fault = AWAY;
    await list();
    const failures = observed().length;
    await fixture.recordByOthers(deleted(1));
    await list();
    expect(observed()).to.have.length(failures);
  });
});
