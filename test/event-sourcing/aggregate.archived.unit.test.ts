import { expect } from 'chai';
import { BrokenSnapshot, type SnapshotOptions, headOf } from '../../src/event-sourcing';
import { untilIdle } from '../support/manual-clock';
import { AWAY, type KeptBase, MemorySnapshots } from '../support/memory-snapshots';
import { OneAggregate, settled } from './one-aggregate';
import { type Labels, created, deleted, labelsCodec, stateAfter } from './labels';

const FERN_TO_IVY = [created(1, 'Fern'), created(2, 'Moss'), deleted(1), created(3, 'Ivy')];
const LABELS = ['Moss', 'Ivy', 'Aloe'];

/** An aggregate over a history of six events, pages of two. */
async function given(options: Partial<SnapshotOptions<Labels>> = {}) {
  const snapshots = new MemorySnapshots();
  const fixture = new OneAggregate({
    pageSize: 2,
    snapshots: { store: snapshots, codec: labelsCodec, every: Infinity, ...options },
  });
  await fixture.recordByOthers(...FERN_TO_IVY, created(4, 'Aloe'));
  /** The snapshot of the first `version` events. */
  const at = async (version: number): Promise<KeptBase> => {
    const history = (await fixture.store.history('ada')).slice(0, version);
    const list = stateAfter(history.map(({ event }) => event));
    return {
      format: labelsCodec.format,
      head: headOf(history.at(-1)!),
      archive: 'seal',
      chunks: [...labelsCodec.encode(list)],
    };
  };
  const archive = async (version: number) => {
    snapshots.bases.set('ada', await at(version));
    fixture.store.archive('ada', version);
  };
  const list = async () => {
    fixture.store.requests.length = 0;
    fixture.store.held = false;
    const listed = fixture.list();
    await settled();
    fixture.store.held = true;
    return { outcome: listed.outcome, reads: fixture.store.requests.map(({ after }) => after.version) };
  };
  const faults = () => fixture.observed.filter((line) => /lost|snapshot|ada:/.test(line));
  return { fixture, snapshots, at, archive, list, faults };
}

describe('An aggregate whose first events were archived', () => {
  it('loads from the base and the events after it', async () => {
    const { archive, list, faults } = await given();
    await archive(4);
    expect(await list()).to.deep.equal({ outcome: LABELS, reads: [0, 4] });
    expect(faults()).to.deep.equal(['ada snapshot restored']);
  });

  it('decides its first command against the base and the events after it', async () => {
    const { fixture, archive } = await given();
    await archive(4);
    fixture.store.held = false;
    const [taken, free] = [fixture.create(2, 'Moss'), fixture.create(1, 'Fern')];
    await settled();
    expect([taken.outcome, free.outcome]).to.deep.equal(['id-taken', 'created']);
    expect(await fixture.recorded()).to.have.length(6);
  });

  it('loads from a snapshot that is ahead of the base', async () => {
    const { snapshots, at, archive, list } = await given();
    await archive(3);
    snapshots.keep('ada', await at(4));
    expect(await list()).to.deep.equal({ outcome: LABELS, reads: [0, 4] });
    expect(snapshots.calls).to.deep.equal(['load ada']);
  });

  it('ignores a snapshot that the base has overtaken, and one that is broken', async () => {
    for (const change of [{}, { chunks: ['['] }]) {
      const { snapshots, at, archive, list, faults } = await given();
      await archive(4);
      snapshots.keep('ada', { ...(await at(2)), ...change });
      expect((await list()).outcome).to.deep.equal(LABELS);
      expect(faults()[0]).to.match(/^ada snapshot ignored/);
      expect(faults().join()).not.to.contain('lost');
    }
  });

  it('loads the base, and no other snapshot, if snapshots are switched off', async () => {
    const { snapshots, at, archive, list } = await given({ every: 0 });
    await archive(4);
    snapshots.keep('ada', await at(5));
    expect((await list()).outcome).to.deep.equal(LABELS);
    expect(snapshots.calls).to.deep.equal(['load base of ada']);
  });

  it('saves its next snapshot so many events after the base', async () => {
    const { fixture, snapshots, archive, list } = await given({ every: 3 });
    await archive(4);
    await list();
    expect(snapshots.kept.size).to.equal(0);
    await fixture.recordByOthers(created(5, 'Palm'), created(6, 'Rose'));
    await list();
    expect(snapshots.newest('ada')?.head.version).to.equal(7);
  });

  it('continues with its state if the state is at the base or ahead of it', async () => {
    for (const version of [4, 5]) {
      const { archive, list, faults } = await given();
      await list();
      await archive(version);
      expect(await list()).to.deep.equal({ outcome: LABELS, reads: [5] });
      expect(faults()).to.deep.equal([]);
    }
  });

  it('loads again, and reports no lost history, if its state is behind the base', async () => {
    const { fixture, archive, list, faults } = await given();
    await list();
    await fixture.recordByOthers(created(5, 'Palm'), deleted(2));
    await archive(6);
    expect(await list()).to.deep.equal({ outcome: ['Ivy', 'Aloe', 'Palm'], reads: [5, 0, 6] });
    expect(faults()).to.deep.equal(['ada snapshot restored']);
  });

  it('decides a command again if its state is behind the base', async () => {
    const { fixture, archive, list, faults } = await given();
    await list();
    await fixture.recordByOthers(created(5, 'Palm'), deleted(2));
    await archive(7);
    fixture.store.held = false;
    const [taken, free] = [fixture.create(5, 'Palm'), fixture.create(2, 'Moss')];
    await settled();
    expect([taken.outcome, free.outcome]).to.deep.equal(['id-taken', 'created']);
    expect(faults()).to.deep.equal(['ada snapshot restored']);
  });

  it('loads again if events are archived between two pages of a load', async () => {
    const { fixture, archive, faults } = await given();
    const listed = fixture.list();
    await fixture.store.sole.answer();
    await settled();
    await archive(5);
    fixture.store.held = false;
    while (fixture.store.calls.length > 0) await fixture.store.calls[0]!.answer();
    await settled();
    expect(listed.outcome).to.deep.equal(LABELS);
    expect(faults()).to.deep.equal(['ada snapshot restored']);
  });

  it('loads from a newer base that replaces the one that it has loaded', async () => {
    const { snapshots, archive, list } = await given();
    await archive(3);
    const { loadBase } = snapshots;
    snapshots.loadBase = async (stream) => {
      snapshots.loadBase = loadBase;
      const older = await snapshots.loadBase(stream);
      await archive(5);
      return older;
    };
    expect(await list()).to.deep.equal({ outcome: LABELS, reads: [0, 3, 5] });
  });

  it('leaves the outcome of an append unknown if its reply was lost and its events were archived', async () => {
    const { fixture, archive, list } = await given();
    await list();
    const create = fixture.create(9, 'Rose');
    await untilIdle();
    await fixture.store.sole.loseReply();
    await fixture.recordByOthers(created(10, 'Yew'));
    await archive(7);
    await fixture.clock.pass(10);
    await fixture.store.sole.answer();
    expect(create.error).to.include({
      name: 'OutcomeUnknown',
      message: 'the events after the known head were archived before the write was confirmed',
    });
    expect((await list()).outcome).to.deep.equal([...LABELS, 'Rose', 'Yew']);
  });

  describe('is not served, rather than as an empty list,', () => {
    const unusable: Record<string, [change: (base: KeptBase) => KeptBase | undefined, why: RegExp]> = {
      'if its base is missing': [() => undefined, /it is missing$/],
      'if its base has another format': [(base) => ({ ...base, format: 'x-1' }), /its format is x-1, exp/],
      'if its base is torn': [(base) => ({ ...base, chunks: ['[[1'] }), /JSON/],
      'if its base is of another history': [
        (base) => ({ ...base, head: { ...base.head, commit: 'other' } }),
        /does not have the head of its base snapshot, version 4$/,
      ],
      'if its base is older than its first event': [
        (base) => ({ ...base, head: { ...base.head, version: 2 } }),
        /does not have the head of its base snapshot, version 2$/,
      ],
    };
    for (const [which, [change, why]] of Object.entries(unusable)) {
      it(`${which}, until it is restored`, async () => {
        const messages: string[] = [];
        const { fixture, snapshots, archive, list } = await given();
        await archive(4);
        const base = snapshots.bases.get('ada')!;
        const changed = change(base);
        if (changed) snapshots.bases.set('ada', changed);
        else snapshots.bases.delete('ada');
        fixture.store.held = false;
        fixture.aggregate
          .query(({ size }) => size)
          .catch((error: unknown) => void messages.push((error as Error).message));
        const create = fixture.create(2, 'Moss');
        await settled();
        expect((await list()).outcome).to.equal('UnreadableHistory');
        expect(create.outcome).to.equal('UnreadableHistory');
        expect(messages[0]).to.match(why);

        snapshots.bases.set('ada', base);
        expect((await list()).outcome).to.deep.equal(LABELS);
      });
    }

    it('if its store has no bases', async () => {
      const { fixture, snapshots, archive } = await given();
      await archive(4);
      Object.assign(snapshots, { loadBase: undefined });
      fixture.store.held = false;
      const listed = fixture.list();
      await settled();
      expect(listed.error)
        .to.have.property('message')
        .that.matches(/it is missing$/);
      expect(listed.error).to.have.property('cause').that.is.instanceOf(BrokenSnapshot);
    });

    it('if no snapshots are configured', async () => {
      const fixture = new OneAggregate();
      await fixture.recordByOthers(...FERN_TO_IVY);
      fixture.store.archive('ada', 3);
      expect((await fixture.catchUp()).error).to.include({
        name: 'UnreadableHistory',
        message: 'no store of base snapshots is configured',
        reason: 'unreadable',
      });
    });

    it('while its base cannot be read', async () => {
      const { snapshots, archive, list } = await given();
      await archive(4);
      snapshots.fault = AWAY;
      expect((await list()).outcome).to.equal('StoreUnavailable');
      snapshots.fault = undefined;
      expect((await list()).outcome).to.deep.equal(LABELS);
    });
  });
});
