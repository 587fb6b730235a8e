import { PlantList } from '../../../src/domain';
import { expect } from 'chai';
import { MemoryEventStore } from '../../../src/adapters/memory/event-store';
import { plantListCodec } from '../../../src/application';
import {
  BEGINNING,
  BrokenSnapshot,
  type EventStore,
  StoreUnavailable,
  UnreadableHistory,
} from '../../../src/event-sourcing';
import { AWAY, type KeptSnapshot, MemorySnapshots } from '../../support/memory-snapshots';
import { created, deleted, plantsOf } from '../../support/given';
import { runCli } from './cli-fixture';
import { aStore, historyOf, record } from './histories';

describe('events verify', () => {
  let store: MemoryEventStore;
  const verify = (...typed: string[]) => runCli({ store }, 'events verify', ...typed);
  beforeEach(async () => (store = await aStore()));

  /** Makes reads of `stream` fail at its second page. */
  function failSecondPage(user: string, error: Error) {
    const read = store.read.bind(store);
    store.read = (...args: Parameters<EventStore['read']>) =>
      args[0] === plantsOf(user) && args[1].version > 0 ? Promise.reject(error) : read(...args);
  }

  it('finds no problem in histories of the service', async () => {
    expect(await verify()).to.deep.equal({
      code: 0,
      out: '2 streams, 6 events, 2 plants: no problems.\n',
      error: '',
    });
    expect((await verify('--json')).out).to.equal('{"streams":2,"events":6,"plants":2,"problems":0}\n');
    expect((await verify('--quiet')).out).to.equal('');
  });

  it('reports every invalid history, and exits with 1', async () => {
    await record(store, 'twice', [created(1, 'Fern')], [created(1, 'Moss')]);
    await record(store, 'never', [deleted(1)]);
    failSecondPage('alice', new UnreadableHistory('entry 3-0 is not a valid PlantMoved of this version'));
    const { code, out } = await verify();
    expect(code).to.equal(1);
    expect(out.trimEnd().split('\n')).to.deep.equal([
      'plants/alice: entry 3-0 is not a valid PlantMoved of this version',
      'plants/never: event 1 of the history deletes an id that is free',
      'plants/twice: event 2 of the history creates an id that is taken',
      '4 streams, 6 events, 4 plants: 3 problems.',
    ]);
    expect((await verify('--user', 'never', '--json')).out).to.equal(
      '{"stream":"plants/never","problem":"event 1 of the history deletes an id that is free"}\n' +
        '{"streams":1,"events":0,"plants":0,"problems":1}\n',
    );
  });

  it('reports no problem of a history that is erased meanwhile', async () => {
    await store.erase(plantsOf('alice'));
    const found = async function* () {
      yield { stream: plantsOf('alice'), version: 3 };
    };
    const { code, out } = await runCli(
      {
        store,
        catalogue: { streams: found, find: (user) => store.find(user), erase: (user) => store.erase(user) },
      },
      'events verify',
    );
    expect({ code, out }).to.deep.equal({ code: 0, out: '1 stream, 0 events, 0 plants: no problems.\n' });
  });

  it('reports a gap, even if the store does not', async () => {
    const read = store.read.bind(store);
    store.read = async (stream, after) => {
      const page = await read(stream, after);
      return page.status === 'read'
        ? { ...page, events: page.events.filter(({ version }) => version !== 2) }
        : page;
    };
    expect((await verify('--user', 'auth0|{b}')).out).to.contain('event 3 found, expected version 2');
  });

  it('reports foreign objects, and users without events', async () => {
    Object.assign(store, {
      async *streams() {
        yield { foreign: 'key plant-store:x' };
      },
    });
    expect(await verify()).to.include({
      code: 1,
      out: 'key plant-store:x\n0 streams, 0 events: 1 problem.\n',
    });
    expect(await verify('--user', 'bob')).to.include({ code: 1 });
  });

  it('reports a history that changed while it was read', async () => {
    const read = store.read.bind(store);
    store.read = async (stream, after) => (after.version > 0 ? { status: 'reset' } : read(stream, BEGINNING));
    expect((await verify()).out).to.contain(
      ' is not in the history: it was erased or lost; verify it again\n',
    );
  });

  describe('of a user with a snapshot', () => {
    const snapshots = new MemorySnapshots();
    const verifyAlice = async () => {
      const { code, out } = await runCli({ store, snapshots }, 'events verify --user alice');
      return { code, first: out.split('\n')[0] };
    };
    let right: KeptSnapshot;

    beforeEach(async () => {
      const { version, commit } = (await historyOf(store, 'alice'))[1]!;
      const events = (await historyOf(store, 'alice')).slice(0, 2).map(({ event }) => event);
      const chunks = [...plantListCodec.encode(PlantList.from(events))];
      right = { format: plantListCodec.format, head: { version, commit }, chunks };
      snapshots.fault = undefined;
    });

    it('finds no problem if the replay leads to it', async () => {
      snapshots.keep(plantsOf('alice'), right);
      expect(await verifyAlice()).to.include({ code: 0 });
    });

    it('finds no problem if a service replaces it while it is read', async () => {
      snapshots.keep(plantsOf('alice'), right);
      const load = snapshots.load.bind(snapshots);
      snapshots.load = async (stream) => {
        snapshots.load = load;
        const chunks = async function* () {
          yield right.chunks[0]!;
          throw new StoreUnavailable('the snapshot was replaced while it was read');
        };
        return { ...(await load(stream))!, chunks: chunks() };
      };
      expect(await verifyAlice()).to.include({ code: 0 });
    });

    it('ignores one of another format', async () => {
      snapshots.keep(plantsOf('alice'), { ...right, format: 'plants-0', chunks: [] });
      expect(await verifyAlice()).to.include({ code: 0 });
    });

    const differs = 'plants/alice: its snapshot differs from the replay at version 2';
    const another = 'plants/alice: its snapshot is of another history';
    const problems: Record<string, [change: () => Partial<KeptSnapshot>, problem: string]> = {
      'another plant': [() => ({ chunks: right.chunks.map((chunk) => chunk.replace('F', 'f')) }), differs],
      'another version of its list': [() => ({ chunks: ['[[3]]'] }), differs],
      'another commit': [() => ({ head: { ...right.head, commit: 'lost' } }), another],
      'a version beyond the history': [() => ({ head: { ...right.head, version: 9 } }), another],
    };
    for (const [which, [change, problem]] of Object.entries(problems)) {
      it(`reports one with ${which}`, async () => {
        snapshots.keep(plantsOf('alice'), { ...right, ...change() });
        expect(await verifyAlice()).to.deep.equal({ code: 1, first: problem });
      });
    }

    it('reports one that cannot be read', async () => {
      for (const fault of [AWAY, new BrokenSnapshot('its checksum differs')]) {
        snapshots.fault = fault;
        const first = `plants/alice: its snapshot cannot be read: ${fault.message}`;
        expect(await verifyAlice()).to.deep.equal({ code: 1, first });
      }
    });
  });

  it('exits with 3 when the store becomes unavailable', async () => {
    failSecondPage('auth0|{b}', new StoreUnavailable('away'));
    const { code, out, error } = await verify();
    expect({ code, out }).to.deep.equal({ code: 3, out: '' });
    expect(error).to.contain('unavailable: away');
  });
});
