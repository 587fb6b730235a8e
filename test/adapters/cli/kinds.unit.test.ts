/** The commands about events on a store with two kinds of aggregates: plants, and jars of coins. */
import { expect } from 'chai';
import { MemoryEventStore } from '../../../src/adapters/memory/event-store';
import { plantKind } from '../../../src/application';
import { BEGINNING, type Kind, jsonCodec, streamOf } from '../../../src/event-sourcing';
import { created, plantsOf } from '../../support/given';
import { MemorySnapshots } from '../../support/memory-snapshots';
import { until } from '../../support/until';
import { runCli, startCli } from './cli-fixture';
import { historyOf, record } from './histories';

/** Members that have the names of those of a line, and an event without members. */
type JarEvent =
  | { readonly type: 'Added'; readonly version: number; readonly stream: string }
  | { readonly type: 'Emptied' };

const jarKind: Kind<never, JarEvent, never, number> = {
  category: 'jars',
  decider: {
    initialState: () => 0,
    decide: (command) => command,
    evolve(coins, event) {
      if (event.type === 'Added') return coins + event.version;
      if (coins === 0) throw new RangeError('the jar is empty');
      return 0;
    },
  },
  codec: jsonCodec<JarEvent>({
    Added: { version: Number.isSafeInteger, stream: (text) => typeof text === 'string' },
    Emptied: {},
  }),
  stateCodec: {
    format: 'jars-1',
    encode: (coins) => [String(coins)],
    readers: { 'jars-1': (_, chunk) => Number(chunk) },
  },
  footprint: { items: (coins) => coins, bytes: () => 8, bytesAddedBy: () => 0 },
  item: 'coin',
  columnsOf: (event) => (event.type === 'Added' ? [String(event.version)] : []),
};

const kinds = [plantKind, jarKind];
const [ADDED, EMPTIED, AGAIN] = [
  { type: 'Added', version: 3, stream: '"x"' },
  { type: 'Emptied' },
  { type: 'Added', version: 2, stream: '' },
] as const;

describe('With two kinds of aggregates', () => {
  let store: MemoryEventStore;
  const events = (...typed: string[]) => runCli({ store, kinds }, 'events', ...typed);

  async function add(stream: string, ...added: readonly JarEvent[]) {
    const [category, id] = stream.split('/') as [string, string];
    const encoded = added.map((event) => jarKind.codec.encode(event));
    const result = await store.append(streamOf(category, id), BEGINNING, `${stream}-1`, encoded);
    expect(result.status).to.equal('appended');
  }

  beforeEach(async () => {
    store = new MemoryEventStore(2);
    await record(store, 'alice', [created(1, 'Fern')]);
    await add('jars/alice', ADDED, EMPTIED, AGAIN);
    await add('jars/bob', ADDED);
  });

  describe('an export', () => {
    it('has the streams of all kinds, and an import restores them', async () => {
      const { code, out } = await events('export');
      expect(code).to.equal(0);
      expect(out.split('\n').slice(1, -2)).to.deep.equal([
        '{"stream":"jars/alice","version":1,"commit":"jars/alice-1","type":"Added","version":3,"stream":"\\"x\\""}',
        '{"stream":"jars/alice","version":2,"commit":"jars/alice-1","type":"Emptied"}',
        '{"stream":"jars/alice","version":3,"commit":"jars/alice-1","type":"Added","version":2,"stream":""}',
        '{"stream":"jars/bob","version":1,"commit":"jars/bob-1","type":"Added","version":3,"stream":"\\"x\\""}',
        '{"stream":"plants/alice","version":1,"commit":"alice-0-1","type":"PlantCreated","id":"1","name":"Fern"}',
      ]);
      const target = new MemoryEventStore();
      expect(await runCli({ store: target, kinds, stdin: out }, 'events import')).to.include({
        code: 0,
        out: 'The store holds 5 events of 3 streams, as they were exported.\n',
      });
      expect((await runCli({ store: target, kinds }, 'events export')).out).to.equal(out);
    });

    it('has the streams of a user', async () => {
      const { out } = await events('export', '--user', 'alice');
      expect(out.match(/^\{"stream":"[^"]*"/gm)).to.deep.equal([
        ...Array.from({ length: 3 }, () => '{"stream":"jars/alice"'),
        '{"stream":"plants/alice"',
      ]);
    });

    it('is refused, with the name, if the store has a stream of another category', async () => {
      await add('boxes/bob', ADDED);
      const { code, out, error } = await events('export');
      expect({ code, out }).to.deep.equal({ code: 1, out: '' });
      expect(error).to.contain('the store has boxes/bob, whose category this version does not know');
    });

    it('is not imported where a stream has another category', async () => {
      const { out } = await events('export');
      const target = new MemoryEventStore();
      const { code, error } = await runCli({ store: target, stdin: out }, 'events import');
      expect(code).to.equal(1);
      expect(error).to.contain('line 2 has the stream jars/alice, whose category this version does not know');
    });
  });

  describe('verify', () => {
    it('replays all, and counts the items of each kind', async () => {
      expect((await events('verify')).out).to.equal('3 streams, 5 events, 5 coins, 1 plant: no problems.\n');
      expect((await events('verify', '--json')).out).to.equal(
        '{"streams":3,"events":5,"jars":5,"plants":1,"problems":0}\n',
      );
    });

    it('names a broken rule, a wrong snapshot and a stream of another category', async () => {
      await add('jars/carol', EMPTIED);
      await add('boxes/bob', ADDED);
      const snapshots = new MemorySnapshots();
      const head = { version: 3, commit: 'jars/alice-1' };
      snapshots.keep(streamOf('jars', 'alice'), { format: 'jars-1', head, chunks: ['7'] });
      const { code, out } = await runCli({ store, kinds, snapshots }, 'events verify');
      expect(code).to.equal(1);
      expect(out.split('\n').slice(0, 3)).to.deep.equal([
        'boxes/bob: a stream whose category this version does not know',
        'jars/alice: its snapshot differs from the replay at version 3',
        'jars/carol: the jar is empty',
      ]);
    });
  });

  describe('erase', () => {
    it('describes and deletes all streams of the user, and no other', async () => {
      const setup = { store, kinds, stdin: 'alice\n', isTerminal: true };
      const { code, out, error } = await runCli(setup, 'events erase --user alice');
      expect({ code, out }).to.deep.equal({ code: 0, out: 'Erased 4 events of alice.\n' });
      expect(error).to.contain('alice has 1 event and 1 plant, and 3 events and 2 coins.');
      expect(await store.find(plantsOf('alice'))).to.equal(undefined);
      expect(await store.find(streamOf('jars', 'alice'))).to.equal(undefined);
      expect(await store.find(streamOf('jars', 'bob'))).to.include({ version: 1 });
    });

    it('prints a line for each stream with --json', async () => {
      expect((await events('erase', '--user', 'alice', '--yes', '--json')).out).to.equal(
        '{"stream":"plants/alice","events":1,"back":false}\n{"stream":"jars/alice","events":3,"back":false}\n',
      );
    });

    it('exits with 1 if the store has a category that no kind has, and erases the others', async () => {
      await add('boxes/bob', ADDED);
      const { code, error } = await events('erase', '--user', 'alice', '--yes');
      expect(code).to.equal(1);
      expect(error).to.contain('does not know all categories of the streams in the store (boxes)');
      expect(await store.find(streamOf('jars', 'alice'))).to.equal(undefined);
      expect((await events('erase', '--user', 'carol', '--yes')).error).to.contain('(boxes)');
    });
  });

  it('tail follows the streams of all kinds', async () => {
    const interrupted = new AbortController();
    const setup = { store, kinds, interrupted: interrupted.signal };
    const following = startCli(setup, 'events tail --user alice --from start');
    await until(() => following.out().split('\n').length === 5);
    expect(following.out().split('\n').sort().slice(1)).to.deep.equal([
      '1\talice-0-1\tPlantCreated\t1\tFern',
      '1\tjars/alice-1\tAdded\t3',
      '2\tjars/alice-1\tEmptied',
      '3\tjars/alice-1\tAdded\t2',
    ]);
    interrupted.abort();
    expect((await following.outcome).code).to.equal(0);
  });

  it('tail ends if the history of one of them cannot be read', async () => {
    const stored = await historyOf(store, 'alice');
    await store.append(plantsOf('alice'), stored.at(-1)!, 'x', [{ type: 'PlantMoved', data: '{}' }]);
    const { code, error } = await events('tail', '--user', 'alice', '--from', 'start');
    expect({ code, error }).to.deep.equal({
      code: 1,
      error: 'plant-store: event 2 is not a valid PlantMoved of this version\n',
    });
  });

  it('archive takes the stream with the category, which is required where the user has several', async () => {
    const archive = (...typed: string[]) =>
      events('archive', '--until', '1', '--output', '/nowhere/a', ...typed);
    const several = await archive('--user', 'alice');
    expect(several.code).to.equal(2);
    expect(several.error).to.contain('--category is required: there is jars/alice, plants/alice');
    expect((await archive('--user', 'alice', '--category', 'jar')).error).to.contain(
      '--category must be one of plants, jars',
    );
    for (const one of [
      ['--user', 'alice', '--category', 'jars'],
      ['--user', 'bob'],
    ])
      expect((await archive(...one)).error).to.contain('this event store cannot archive events');
  });
});
