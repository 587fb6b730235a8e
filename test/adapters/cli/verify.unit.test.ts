import { expect } from 'chai';
import { MemoryEventStore } from '../../../src/adapters/memory/event-store';
import {
  BEGINNING,
  type EventStore,
  StoreUnavailable,
  UnreadableHistory,
  parseUser,
} from '../../../src/application';
import { created, deleted } from '../../support/given';
import { carryOut } from './a-terminal';
import { aStore, record } from './events';

describe('events verify', () => {
  let store: MemoryEventStore;
  const verify = (...typed: string[]) => carryOut({ store }, 'events', 'verify', ...typed);
  beforeEach(async () => (store = await aStore()));

  /** Reading `stream` goes wrong at its second page. */
  function breakOff(stream: string, error: Error) {
    const read = store.read.bind(store);
    store.read = (...args: Parameters<EventStore['read']>) =>
      args[0] === stream && args[1].version > 0 ? Promise.reject(error) : read(...args);
  }

  it('finds nothing wrong with what the service wrote', async () => {
    expect(await verify()).to.deep.equal({
      code: 0,
      out: '2 users, 6 events, 2 plants: all is well.\n',
      error: '',
    });
    expect((await verify('--json')).out).to.equal('{"streams":2,"events":6,"plants":2,"problems":0}\n');
    expect((await verify('--quiet')).out).to.equal('');
  });

  it('reports every bad history, goes on with the next, and ends with exit code 1', async () => {
    await record(store, 'twice', [created(1, 'Fern')], [created(1, 'Moss')]);
    await record(store, 'never', [deleted(1)]);
    breakOff('alice', new UnreadableHistory('entry 3-0 holds no PlantMoved that this version knows'));
    const { code, out } = await verify();
    expect(code).to.equal(1);
    expect(out.trimEnd().split('\n')).to.deep.equal([
      'alice: entry 3-0 holds no PlantMoved that this version knows',
      'never: event 1 of the history deletes an id that is free',
      'twice: event 2 of the history creates an id that is taken',
      '4 users, 6 events, 4 plants: 3 problems.',
    ]);
  });

  it('reports a history whose end is gone', async () => {
    store.find = async (stream) => ({ stream, version: 5 });
    expect(await verify('--user', 'alice', '--json')).to.deep.equal({
      code: 1,
      out:
        '{"stream":"alice","problem":"ends at version 3, but version 5 was given: its end was deleted"}\n' +
        '{"streams":1,"events":3,"plants":1,"problems":1}\n',
      error: '',
    });
  });

  it('does not miss the end of a history that was erased since it was found', async () => {
    await store.erase(parseUser('alice')!);
    const found = async function* () {
      yield { stream: parseUser('alice')!, version: 3 };
    };
    const { code, out } = await carryOut(
      {
        store,
        catalogue: { streams: found, find: (user) => store.find(user), erase: (user) => store.erase(user) },
      },
      'events',
      'verify',
    );
    expect({ code, out }).to.deep.equal({ code: 0, out: '1 user, 0 events, 0 plants: all is well.\n' });
  });

  it('reports a gap, whatever store has it', async () => {
    const read = store.read.bind(store);
    store.read = async (stream, after) => {
      const page = await read(stream, after);
      return page.status === 'read'
        ? { ...page, events: page.events.filter(({ version }) => version !== 2) }
        : page;
    };
    expect((await verify('--user', 'auth0|{b}')).out).to.contain(
      'event 3 stands where version 2 was expected',
    );
  });

  it('reports what stands among the streams and is none, and who has nothing', async () => {
    store.streams = async function* () {
      yield { foreign: 'key plant-store:x' };
    };
    expect(await verify()).to.include({
      code: 1,
      out: 'key plant-store:x\n0 users, 0 events, 0 plants: 1 problem.\n',
    });
    expect(await verify('--user', 'bob')).to.include({ code: 1 });
  });

  it('reports a history that changed under it', async () => {
    const read = store.read.bind(store);
    store.read = async (stream, after) => (after.version > 0 ? { status: 'reset' } : read(stream, BEGINNING));
    expect((await verify()).out).to.contain(
      'alice: the history changed while it was read; verify it again\n',
    );
  });

  it('ends with exit code 3 where the store goes away, whatever it has found', async () => {
    breakOff('auth0|{b}', new StoreUnavailable('away'));
    const { code, out, error } = await verify();
    expect({ code, out }).to.deep.equal({ code: 3, out: '' });
    expect(error).to.contain('unavailable: away');
  });
});
