import { expect } from 'chai';
import { MemoryEventStore } from '../../../src/adapters/memory/event-store';
import { plantListCodec } from '../../../src/application';
import { PlantList } from '../../../src/domain';
import {
  BrokenSnapshot,
  type ReadResult,
  StoreUnavailable,
  UnreadableHistory,
} from '../../../src/event-sourcing';
import { created, deleted, plantsOf } from '../../support/given';
import { AWAY, type KeptSnapshot, MemorySnapshots } from '../../support/memory-snapshots';
import { ADDED, EMPTIED, aStore, record, rowsOf, runCli } from './fixture';

const ALICE = plantsOf('alice');
let store: MemoryEventStore;
beforeEach(async () => (store = await aStore()));

describe('events verify', () => {
  const verify = (options = '') => runCli({ store }, `events verify ${options}`.trim());

  /** Replaces the results of reads of alice's plants after `version`. */
  function change(version: number, resultOf: (result: ReadResult) => ReadResult | Promise<ReadResult>) {
    const read = store.read.bind(store);
    store.read = async (stream, after) => {
      const result = await read(stream, after);
      return stream === ALICE && after.version >= version ? resultOf(result) : result;
    };
  }

  for (const [typed, out] of rowsOf(`
                 | 3 streams, 9 events, 3 coins, 2 plants: no problems.\\n
    --user alice | 2 streams, 6 events, 3 coins, 1 plant: no problems.\\n
    --json       | {"streams":3,"events":9,"jars":3,"plants":2,"problems":0}\\n
    --quiet      |`))
    it(`finds no problem in histories of the service (${typed})`, async () => {
      expect(await verify(typed)).to.deep.equal({ code: 0, out, error: '' });
    });

  const end: ReadResult = { status: 'read', events: [], more: false };
  const without = (version: number, result: ReadResult): ReadResult =>
    result.status === 'read'
      ? { ...result, events: result.events.filter((event) => event.version !== version) }
      : result;
  for (const [typed, prepare, ...problems] of [
    [
      '',
      async () => {
        await record(store, 'plants/twice', [created(1, 'Fern')], [created(1, 'Moss')]);
        await record(store, 'plants/never', [deleted(1)]);
        await record(store, 'jars/carol', [EMPTIED]);
        await record(store, 'boxes/bob', [ADDED]);
      },
      'boxes/bob: a stream whose category this version does not know',
      'jars/carol: the jar is empty',
      'plants/never: event 1 of the history deletes an id that is free',
      'plants/twice: event 2 of the history creates an id that is taken',
      '6 streams, 10 events, 3 coins, 3 plants: 4 problems.',
    ],
    [
      '--json --user never',
      () => record(store, 'plants/never', [deleted(1)]),
      '{"stream":"plants/never","problem":"event 1 of the history deletes an id that is free"}',
      '{"streams":1,"events":0,"plants":0,"problems":1}',
    ],
    ['--user bob', () => {}, 'nothing is stored for bob', '0 streams, 0 events: 1 problem.'],
    [
      '--user alice',
      () => change(2, () => Promise.reject(new UnreadableHistory('event 3 is not a PlantMoved'))),
      'plants/alice: event 3 is not a PlantMoved',
    ],
    [
      '--user alice',
      () => change(0, (result) => without(2, result)),
      'plants/alice: event 3 found, expected version 2',
    ],
    [
      '--user alice',
      () => change(2, () => end),
      'plants/alice: ends at version 2, but its last version is 3: the last events were deleted',
    ],
    [
      '--user alice',
      () => change(2, () => ({ status: 'reset' })),
      'plants/alice: event 2 of commit plants/alice-2 is not in the history: it was erased or lost; verify it again',
    ],
  ] as readonly (readonly [string, () => unknown, ...string[]])[])
    it(`exits with 1 and reports: ${problems[0]}`, async () => {
      await prepare();
      const { code, out } = await verify(typed);
      expect(code).to.equal(1);
      expect(out.split('\n').slice(0, problems.length)).to.deep.equal(problems);
    });

  it('finds no problem in a history that is erased meanwhile', async () => {
    change(0, async () => {
      await store.erase(ALICE);
      return end;
    });
    expect(await verify('--user alice')).to.include({ code: 0 });
  });

  it('exits with 3 when the store becomes unavailable', async () => {
    change(2, () => Promise.reject(new StoreUnavailable('away')));
    const error = 'plant-store: the event store is unavailable: away\n';
    expect(await verify()).to.deep.equal({ code: 3, out: '', error });
  });

  const DIFFERS = 'its snapshot differs from the replay at version 2';
  const OTHER = 'its snapshot is of another history';
  for (const [what, change, code, problem] of [
    ['to which the replay leads', () => ({}), 0],
    ['of another format', () => ({ format: 'plants-0', chunks: [] }), 0],
    ['with another plant', ({ chunks }) => ({ chunks: [chunks[0]!.replace('F', 'f')] }), 1, DIFFERS],
    ['with another version of its list', () => ({ chunks: ['[[3]]'] }), 1, DIFFERS],
    ['with another commit', ({ head }) => ({ head: { ...head, commit: 'lost' } }), 1, OTHER],
    ['beyond the history', ({ head }) => ({ head: { ...head, version: 9 } }), 1, OTHER],
    ['with other rows', () => ({ chunks: ['[1]'] }), 1, 'its snapshot cannot be read: a chunk is not a JSON'],
    ['that is broken', () => new BrokenSnapshot('half'), 1, 'its snapshot cannot be read: half'],
    ['that is replaced while it is read', () => undefined, 0],
    ['whose store is away', () => AWAY, 3],
  ] as readonly (readonly [
    ...[string, (right: KeptSnapshot) => Partial<KeptSnapshot> | Error | undefined, number, string?],
  ])[])
    it(`exits with ${code} after a snapshot ${what}`, async () => {
      const snapshots = new MemorySnapshots();
      const [fern, cactus] = [created(1, 'Fern', 'indoor'), created(2, '\u0000"\ud83c\udf35" \u2028', '')];
      const chunks = [...plantListCodec.encode(PlantList.from([fern, cactus]))];
      const head = { version: 2, commit: 'plants/alice-2' };
      const right = { format: plantListCodec.format, head, chunks };
      const changed = change(right);
      if (changed instanceof Error) snapshots.fault = changed;
      else snapshots.keep(ALICE, { ...right, ...changed });
      const { load } = snapshots;
      if (changed === undefined)
        snapshots.load = (stream) => {
          Object.assign(snapshots, { load, fault: AWAY });
          return load.call(snapshots, stream).finally(() => (snapshots.fault = undefined));
        };
      const outcome = await runCli({ store, snapshots }, 'events verify --user alice');
      expect(outcome.code).to.equal(code);
      if (problem !== undefined) expect(outcome.out).to.contain(`plants/alice: ${problem}`);
    });
});

describe('events erase', () => {
  const asked =
    'alice has 3 events of plants and 3 events of jars. Erasing them cannot be undone.\n' +
    'To erase them, type the name of the user: ';
  const stored = async () => (await runCli({ store }, 'events verify')).out;

  for (const answer of ['alice\n', '', '\n', 'yes\n', 'Alice\n', 'alice ', 'bob\nalice\n'])
    it(`shows what is stored, and erases it only if the name is typed: ${JSON.stringify(answer)}`, async () => {
      const outcome = await runCli({ store, stdin: answer, isTerminal: true }, 'events erase --user alice');
      if (answer === 'alice\n') {
        expect(outcome).to.deep.equal({ code: 0, out: 'Erased 6 events of alice.\n', error: asked });
        expect(await stored()).to.match(/^1 stream, 3 events, 1 plant/);
        return;
      }
      const error = `${asked}plant-store: the name does not match; nothing was erased\n`;
      expect(outcome).to.deep.equal({ code: 1, out: '', error });
      expect(await stored()).to.match(/^3 streams, 9 events/);
    });

  it('does not ask with --yes, and prints a line for each stream with --json', async () => {
    expect(await runCli({ store }, 'events erase --user alice --yes --json')).to.deep.equal({
      code: 0,
      out: '{"stream":"plants/alice","events":3,"back":false}\n{"stream":"jars/alice","events":3,"back":false}\n',
      error: '',
    });
  });

  for (const [user, message, left, prepare] of [
    ['alcie', 'nothing is stored for alcie', 3, () => {}],
    [
      'alice',
      'this version does not know all categories of the streams in the store (boxes): they may have events of the user, and were not erased',
      1,
      () => record(store, 'boxes/bob', [ADDED]),
    ],
    [
      'alice',
      'plants/alice was written to again: revoke the tokens, then repeat the command',
      2,
      () => {
        const erase = store.erase.bind(store);
        store.erase = (stream) => {
          if (stream === ALICE) setTimeout(() => void record(store, ALICE, [created(1, 'late')]), 5);
          return erase(stream);
        };
      },
    ],
  ] as const)
    it(`exits with 1 and says: ${message}`, async () => {
      await prepare();
      const { code, error } = await runCli({ store }, 'events erase --yes --user', user);
      expect({ code, error }).to.deep.equal({ code: 1, error: `plant-store: ${message}\n` });
      expect(await stored()).to.contain(`${left} stream`);
    });
});
