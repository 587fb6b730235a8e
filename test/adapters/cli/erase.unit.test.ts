import { expect } from 'chai';
import { MemoryEventStore } from '../../../src/adapters/memory/event-store';
import { plantListCodec } from '../../../src/application';
import { type StreamName, UnreadableHistory } from '../../../src/event-sourcing';
import { created, plantsOf } from '../../support/given';
import { MemorySnapshots } from '../../support/memory-snapshots';
import { runCli } from './cli-fixture';
import { aStore, historyOf, record } from './histories';

const alice = plantsOf('alice');

describe('events erase', () => {
  let store: MemoryEventStore;
  beforeEach(async () => (store = await aStore()));

  const atTerminal = (stdin: string, ...typed: string[]) =>
    runCli({ store, stdin, isTerminal: true }, 'events erase --user alice', ...typed);

  it('describes the stream, and erases it after the name is typed', async () => {
    expect(await atTerminal('alice\n')).to.deep.equal({
      code: 0,
      out: 'Erased 3 events of alice.\n',
      error:
        'alice has 3 events and 1 plant. Erasing them cannot be undone.\n' +
        'To erase them, type the name of the user: ',
    });
    expect(await store.find(alice)).to.equal(undefined);
    expect(await historyOf(store, 'auth0|{b}')).to.have.length(3);
  });

  for (const answer of ['', '\n', 'yes\n', 'Alice\n', 'alice ', 'bob\nalice\n']) {
    it(`erases nothing and exits with 1 when ${JSON.stringify(answer)} is typed`, async () => {
      const { code, error } = await atTerminal(answer);
      expect(code).to.equal(1);
      expect(error).to.contain('the name does not match; nothing was erased');
      expect(await historyOf(store, 'alice')).to.have.length(3);
    });
  }

  it('does not ask with --yes, and requires it without a terminal', async () => {
    const without = await runCli({ store, stdin: 'alice\n' }, 'events erase --user alice');
    expect(without.code).to.equal(2);
    expect(without.error).to.contain('--yes');
    expect(await historyOf(store, 'alice')).to.have.length(3);
    expect(await runCli({ store }, 'events erase --user alice --yes --json')).to.deep.equal({
      code: 0,
      out: '{"stream":"plants/alice","events":3,"back":false}\n',
      error: '',
    });
  });

  it('exits with 1 when nothing is stored for the user', async () => {
    const { code, error } = await runCli({ store }, 'events erase --user alcie --yes');
    expect({ code, error }).to.deep.equal({ code: 1, error: 'plant-store: nothing is stored for alcie\n' });
  });

  it('erases a key without entries, too, and then checks for later writes', async () => {
    const { out, code } = await runCli(
      {
        store,
        catalogue: {
          streams: () => store.streams(),
          find: async (stream) => ({ stream, version: 3 }),
          erase: async () => 0,
        },
      },
      'events erase --user alice --yes --json',
    );
    expect({ out, code }).to.deep.equal({
      out: '{"stream":"plants/alice","events":0,"back":true}\n',
      code: 1,
    });
  });

  it('describes a base snapshot whose stream is missing, and erases it after the name is typed', async () => {
    const head = { version: 3, commit: 'a commit' };
    const snapshots = new MemorySnapshots();
    const base = { format: plantListCodec.format, head, archive: 'seal', chunks: [] };
    snapshots.bases.set(plantsOf('bob'), base);
    const catalogue = {
      streams: () => store.streams(),
      find: (stream: StreamName) => store.find(stream),
      erase: async () => {
        snapshots.bases.delete(plantsOf('bob'));
        return 0;
      },
    };
    const erase = (stdin: string) =>
      runCli({ store, catalogue, snapshots, stdin, isTerminal: true }, 'events erase --user bob');
    expect((await erase('no\n')).error).to.contain('bob has the base snapshot of version 3, and no events.');
    expect(snapshots.bases.size).to.equal(1);
    expect(await erase('bob\n')).to.deep.include({ code: 0, out: 'Erased 0 events of bob.\n' });
    expect(snapshots.bases.size).to.equal(0);
    expect(await erase('bob\n')).to.include({ code: 1, error: 'plant-store: nothing is stored for bob\n' });
  });

  it('exits with 1 and reports it when the stream is written to again', async () => {
    const erase = store.erase.bind(store);
    store.erase = async (user) => {
      const events = await erase(user);
      setTimeout(() => void record(store, 'alice', [created(1, 'late')]), 5);
      return events;
    };
    const { code, out, error } = await atTerminal('', '--yes', '--json');
    expect({ code, out }).to.deep.equal({
      code: 1,
      out: '{"stream":"plants/alice","events":3,"back":true}\n',
    });
    expect(JSON.parse(error)).to.have.property('message').that.contains('revoke the tokens');
  });

  for (const status of ['reset', 'archived'] as const) {
    it(`erases a history whose base snapshot is of another one, too (${status})`, async () => {
      store.read = async (_, { version }) => ({ status: version === 0 ? 'archived' : status });
      const snapshots = new MemorySnapshots();
      const head = { version: 2, commit: 'another' };
      snapshots.bases.set(alice, { format: plantListCodec.format, head, archive: 'seal', chunks: [] });
      const setup = { store, snapshots, stdin: 'alice\n', isTerminal: true };
      const { code, error } = await runCli(setup, 'events erase --user alice');
      expect(code).to.equal(0);
      expect(error).to.contain('alice has up to 3 events, not all of them readable');
    });
  }

  it('says that a history is unreadable, and erases it, too', async () => {
    store.read = async () => Promise.reject(new UnreadableHistory('entry 2-0 holds no PlantMoved'));
    const { code, error } = await atTerminal('alice\n');
    expect(code).to.equal(0);
    expect(error).to.contain(
      'alice has up to 3 events, not all of them readable (entry 2-0 holds no PlantMoved).',
    );
  });
});
