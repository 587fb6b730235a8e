import { expect } from 'chai';
import { MemoryEventStore } from '../../../src/adapters/memory/event-store';
import { plantListCodec } from '../../../src/application';
import { StoreUnavailable, UnreadableHistory } from '../../../src/event-sourcing';
import { created, deleted, plantsOf } from '../../support/given';
import { ManualClock } from '../../support/manual-clock';
import { AWAY, MemorySnapshots } from '../../support/memory-snapshots';
import { type CliSetup, startCli } from './cli-fixture';
import { record } from './histories';

const alice = plantsOf('alice');

/** Interval of reads from a store that notifies. */
const CHECK_MS = 5000;

describe('events tail', () => {
  let store: MemoryEventStore;
  let clock: ManualClock;
  let interrupted: AbortController;

  beforeEach(async () => {
    store = new MemoryEventStore(2);
    clock = new ManualClock();
    interrupted = new AbortController();
    await record(store, 'alice', [created(1, 'Fern', 'indoor')], [created(2, 'a\tb'), deleted(1)]);
  });

  // A command keeps the process alive until its end.
  afterEach(() => interrupted.abort());

  function tail(...typed: string[]) {
    return tailWith({}, ...typed);
  }

  function tailWith(setup: CliSetup, ...typed: string[]) {
    return tailOf(setup, '--user', 'alice', ...typed);
  }

  function tailOf(setup: CliSetup, ...typed: string[]) {
    const settings = { store, clock, interrupted: interrupted.signal, ...setup };
    const started = startCli(settings, 'events tail', ...typed);
    return {
      ...started,
      lines: async () => {
        await clock.pass(250);
        return started.out().split('\n').slice(0, -1);
      },
      interrupt: () => {
        interrupted.abort();
        return started.outcome;
      },
    };
  }

  it('prints new events within 250 ms, and exits with 0 on Ctrl-C', async () => {
    const following = tail();
    expect(await following.lines()).to.deep.equal([]);
    await record(store, 'alice', [created(3, 'Moss')]);
    expect(await following.lines()).to.deep.equal(['4\talice-3-1\tPlantCreated\t3\tMoss']);
    await record(store, 'alice', [deleted(3)], [created(3, 'Ivy', '')], [deleted(3)]);
    expect((await following.lines()).slice(1)).to.deep.equal([
      '5\talice-4-1\tPlantDeleted\t3',
      '6\talice-5-2\tPlantCreated\t3\tIvy\t""',
      '7\talice-6-3\tPlantDeleted\t3',
    ]);
    expect(await following.interrupt()).to.include({ code: 0, error: '' });
  });

  it('prints earlier events from the start, or from a version', async () => {
    expect(await tail('--from', 'start').lines()).to.deep.equal([
      '1\talice-0-1\tPlantCreated\t1\tFern\tindoor',
      '2\talice-1-2\tPlantCreated\t2\t"a\\tb"',
      '3\talice-1-2\tPlantDeleted\t1',
    ]);
    expect(await tail('--from', '3').lines()).to.deep.equal(['3\talice-1-2\tPlantDeleted\t1']);
    const later = tail('--from', '5');
    expect(await later.lines()).to.deep.equal([]);
    await record(store, 'alice', [created(4, 'Ivy')], [created(5, 'Aloe')]);
    expect(await later.lines()).to.deep.equal(['5\talice-4-2\tPlantCreated\t5\tAloe']);
  });

  it('prints events in the format of an export with --json', async () => {
    expect(await tail('--json', '--from', '3').lines()).to.deep.equal([
      '{"stream":"plants/alice","version":3,"commit":"alice-1-2","type":"PlantDeleted","id":"1"}',
    ]);
  });

  it('prints the new events of all users with the names of their streams, without --user', async () => {
    const following = tailOf({});
    expect(await following.lines()).to.deep.equal([]);
    await record(store, 'bob', [created(1, 'Ivy')]);
    await record(store, 'alice', [created(3, 'Moss')]);
    await record(store, 'bob', [deleted(1)]);
    expect(await following.lines()).to.deep.equal([
      'plants/bob\t1\tbob-0-1\tPlantCreated\t1\tIvy',
      'plants/alice\t4\talice-3-1\tPlantCreated\t3\tMoss',
      'plants/bob\t2\tbob-1-1\tPlantDeleted\t1',
    ]);
    expect(await following.interrupt()).to.include({ code: 0, error: '' });
  });

  it('has no --from without --user, and needs a store with a feed', async () => {
    expect(await tailOf({}, '--from', 'start').outcome).to.include({ code: 2 });
    const { read, append } = store;
    const withoutFeed = { read: read.bind(store), append: append.bind(store) };
    const { code, error } = await tailOf({ store: withoutFeed }).outcome;
    expect({ code, error }).to.deep.equal({
      code: 1,
      error: 'plant-store: this store has no feed: name a user with --user\n',
    });
  });

  it('follows a user without events', async () => {
    await store.erase(alice);
    const following = tail();
    expect(await following.lines()).to.deep.equal([]);
    await record(store, 'alice', [created(1, 'Fern')]);
    expect(await following.lines()).to.have.length(1);
  });

  it('reports that the history was lost, and continues with the current one', async () => {
    const following = tail('--json', '--from', '4');
    await following.lines();
    await store.erase(alice);
    await record(store, 'alice', [created(9, 'Aloe')]);
    expect(await following.lines()).to.deep.equal([
      '{"stream":"plants/alice","reset":true}',
      '{"stream":"plants/alice","version":1,"commit":"alice-0-1","type":"PlantCreated","id":"9","name":"Aloe"}',
    ]);
    expect(following.error()).to.equal(
      'The history of plants/alice was erased or lost; the current one follows.\n',
    );
  });

  it('says once that the store is unavailable, and continues when it is available again', async () => {
    const following = tail();
    await following.lines();
    const read = store.read.bind(store);
    store.read = async () => Promise.reject(new StoreUnavailable('Redis is gone'));
    await clock.pass(CHECK_MS);
    await following.lines();
    store.read = read;
    await record(store, 'alice', [created(3, 'Moss')]);
    expect(await following.lines()).to.have.length(1);
    expect(following.error()).to.equal('The event store is unavailable (Redis is gone); retrying.\n');
  });

  it('waits for an unavailable store before it skips archived events', async () => {
    const read = store.read.bind(store);
    store.read = async (stream, after) => (after.version < 2 ? { status: 'archived' } : read(stream, after));
    const snapshots = new MemorySnapshots();
    const head = { version: 2, commit: 'alice-1-2' };
    snapshots.bases.set(alice, { format: plantListCodec.format, head, archive: 'seal', chunks: [] });
    snapshots.fault = AWAY;
    const following = tailWith({ snapshots }, '--from', 'start');
    await following.lines();
    await following.lines();
    expect(following.error()).to.equal(`The event store is unavailable (${AWAY.message}); retrying.\n`);
    snapshots.fault = undefined;
    expect(await following.lines()).to.deep.equal(['3\talice-1-2\tPlantDeleted\t1']);
    expect(following.error()).to.match(
      /\nThe events of plants\/alice up to version 2 are archived; the later ones follow\.\n$/,
    );
  });

  describe('of archived events', () => {
    const snapshots = new MemorySnapshots();
    const base = (commit: string) => ({
      format: plantListCodec.format,
      head: { version: 2, commit },
      archive: 'seal',
      chunks: [],
    });

    for (const [which, oldest] of [
      ['is of another history', 2],
      ['ends before the first event of the store', 3],
    ] as const) {
      it(`exits with 1 if the base snapshot ${which}`, async () => {
        const read = store.read.bind(store);
        store.read = async (stream, after) =>
          after.version < oldest ? { status: 'archived' } : read(stream, after);
        snapshots.bases.set(alice, base('another'));
        const following = tailWith({ snapshots }, '--from', 'start');
        await following.lines();
        const { code, error } = await following.outcome;
        expect(code).to.equal(1);
        expect(error).to.contain('plant-store: its base snapshot is of another history');
      });
    }

    it('follows the current history if it was erased meanwhile', async () => {
      const read = store.read.bind(store);
      let isErased = false;
      store.read = async (stream, after) => {
        if (!isErased && after.version === 0) return { status: 'archived' };
        isErased = true;
        return read(stream, after);
      };
      snapshots.bases.set(alice, base('erased'));
      const following = tailWith({ snapshots }, '--from', 'start');
      await following.lines();
      expect(await following.lines(), following.error()).to.have.length(3);
      expect(following.error()).to.match(/erased or lost; the current one follows\.\n$/);
    });
  });

  it('exits with 1 at an unreadable event', async () => {
    const following = tail();
    await following.lines();
    store.read = async () => Promise.reject(new UnreadableHistory('entry 4-0 holds no PlantMoved'));
    await clock.pass(CHECK_MS);
    expect(await following.outcome).to.include({
      code: 1,
      error: 'plant-store: entry 4-0 holds no PlantMoved\n',
    });
  });

  it('accepts a version, start and now as --from, and no other value', async () => {
    for (const from of ['0', '-1', '1.0', 'end', ''])
      expect(await tail(`--from=${from}`).outcome, from).to.include({ code: 2 });
  });
});
