import { expect } from 'chai';
import { MemoryEventStore } from '../../../src/adapters/memory/event-store';
import { UnreadableHistory, parseUser } from '../../../src/application';
import { created } from '../../support/given';
import { carryOut } from './a-terminal';
import { aStore, historyOf, record } from './events';

const alice = parseUser('alice')!;

describe('events erase', () => {
  let store: MemoryEventStore;
  beforeEach(async () => (store = await aStore()));

  const atTerminal = (stdin: string, ...typed: string[]) =>
    carryOut({ store, stdin, isTerminal: true }, 'events', 'erase', '--user', 'alice', ...typed);

  it('says what there is, and erases it once the name is typed', async () => {
    expect(await atTerminal('alice\n')).to.deep.equal({
      code: 0,
      out: 'Erased 3 events of alice.\n',
      error:
        'alice has 3 events and 1 living plant. What is erased cannot be brought back.\n' +
        'To erase them, type the name of the user: ',
    });
    expect(await store.find(alice)).to.equal(undefined);
    expect(await historyOf(store, 'auth0|{b}')).to.have.length(3);
  });

  for (const answer of ['', '\n', 'yes\n', 'Alice\n', 'alice ', 'bob\nalice\n']) {
    it(`erases nothing where ${JSON.stringify(answer)} is typed: exit code 1`, async () => {
      const { code, error } = await atTerminal(answer);
      expect(code).to.equal(1);
      expect(error).to.contain('that is not the name; nothing was erased');
      expect(await historyOf(store, 'alice')).to.have.length(3);
    });
  }

  it('does not ask with --yes, and needs it where there is no terminal', async () => {
    const without = await carryOut({ store, stdin: 'alice\n' }, 'events', 'erase', '--user', 'alice');
    expect(without.code).to.equal(2);
    expect(without.error).to.contain('--yes');
    expect(await historyOf(store, 'alice')).to.have.length(3);
    expect(await carryOut({ store }, 'events', 'erase', '--user', 'alice', '--yes', '--json')).to.deep.equal({
      code: 0,
      out: '{"stream":"alice","events":3,"back":false}\n',
      error: '',
    });
  });

  it('says that there is nothing where there is nothing: exit code 1', async () => {
    const { code, error } = await carryOut({ store }, 'events', 'erase', '--user', 'alcie', '--yes');
    expect({ code, error }).to.deep.equal({ code: 1, error: 'plant-store: nothing is stored for alcie\n' });
  });

  it('erases also a key without an entry, and then looks for whoever still writes', async () => {
    const { out, code } = await carryOut(
      {
        store,
        catalogue: {
          streams: () => store.streams(),
          find: async (stream) => ({ stream, version: 3 }),
          erase: async () => 0,
        },
      },
      'events',
      'erase',
      '--user',
      'alice',
      '--yes',
      '--json',
    );
    expect({ out, code }).to.deep.equal({ out: '{"stream":"alice","events":0,"back":true}\n', code: 1 });
  });

  it('says that somebody still writes, where a write comes in behind it: exit code 1', async () => {
    const erase = store.erase.bind(store);
    store.erase = async (user) => {
      const events = await erase(user);
      setTimeout(() => void record(store, 'alice', [created(1, 'late')]), 5);
      return events;
    };
    const { code, out, error } = await atTerminal('', '--yes', '--json');
    expect({ code, out }).to.deep.equal({ code: 1, out: '{"stream":"alice","events":3,"back":true}\n' });
    expect(JSON.parse(error)).to.have.property('message').that.contains('revoke the tokens');
  });

  it('erases what cannot be read as well, and says so before', async () => {
    store.read = async () => Promise.reject(new UnreadableHistory('entry 2-0 holds no PlantMoved'));
    const { code, error } = await atTerminal('alice\n');
    expect(code).to.equal(0);
    expect(error).to.contain(
      'alice has up to 3 events, not all of them readable (entry 2-0 holds no PlantMoved).',
    );
  });
});
