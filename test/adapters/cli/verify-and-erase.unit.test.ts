import { expect } from 'chai';
import type { MemoryEventStore } from '../../../src/adapters/memory/event-store';
import { plantKind, plantListCodec } from '../../../src/application';
import {
  BEGINNING,
  BrokenSnapshot,
  type ReadResult,
  StoreUnavailable,
  UnreadableHistory,
} from '../../../src/event-sourcing';
import { created, deleted, listAfter } from '../../support/given';
import { AWAY, type KeptSnapshot, MemorySnapshots } from '../../support/memory-snapshots';
import { ADDED, ALICE, EMPTIED, aStore, record, rowsOf, runCli } from './fixture';

let store: MemoryEventStore;
beforeEach(async () => (store = await aStore()));
const verify = (options = '') => runCli({ store }, `events verify ${options}`);

describe('events verify', () => {
  for (const [typed, out] of rowsOf(`
                 | 3 streams, 9 events, 3 coins, 2 plants: no problems.\\n
    --user alice | 2 streams, 6 events, 3 coins, 1 plant: no problems.\\n
    --json       | {"streams":3,"events":9,"items":{"jars":3,"plants":2},"problems":0}\\n
    --quiet      |`))
    it(`finds no problem in histories that the service has recorded (${typed || 'without options'})`, async () => {
      expect(await verify(typed)).to.deep.equal({ code: 0, out, error: '' });
    });

  it('exits with 1 and reports every problem, sorted by stream', async () => {
    await record(store, 'plants/twice', [created(1, 'Fern')], [created(1, 'Moss')]);
    await record(store, 'plants/never', [deleted(1)]);
    await record(store, 'jars/carol', [EMPTIED]);
    await record(store, 'boxes/bob', [ADDED]);
    const out = `boxes/bob: a stream whose category this version does not know
jars/carol: the jar is empty
plants/never: event 1 of the history is PlantDeleted although its id is free
plants/twice: event 2 of the history is PlantCreated although its id is taken
6 streams, 10 events, 3 coins, 3 plants: 4 problems.
`;
    expect(await verify()).to.deep.equal({ code: 1, out, error: '' });
    expect((await verify('--json --user never')).out).to.equal(
      '{"stream":"plants/never","problem":"event 1 of the history is PlantDeleted although its id is free"}\n' +
        '{"streams":1,"events":0,"items":{"plants":0},"problems":1}\n',
    );
    expect((await verify('--user bob')).out).to.match(
      /^nothing is stored for bob\n0 .*: 1 problem\.\n$/,
    );
  });

  it('counts each stream exactly once even if the epoch of the index changes meanwhile', async () => {
    const changed = store.changed.bind(store);
    store.changed = async (bucket, at) => {
      store.changed = changed;
      return {
        ...(await changed(bucket, at, 1)),
        next: { epoch: 'lost', sequence: 3 },
        more: true,
      } as never;
    };
    expect((await verify()).out).to.match(/^3 streams, 9 events,/);
  });

  type Change = (result: ReadResult) => ReadResult | Promise<ReadResult>;
  const end: ReadResult = { status: 'read', events: [], more: false };
  const moved = () => Promise.reject(new UnreadableHistory('event 3 is not a PlantMoved'));
  const withoutSecond: Change = (result) =>
    'events' in result
      ? { ...result, events: result.events.filter(({ version }) => version !== 2) }
      : result;
  const DELETED = 'ends at version 2, but its last version is 3: the last events were deleted';
  const LOST =
    'event 2 of commit plants/alice-2 is not in the history: it was erased or lost; verify it again';
  for (const [what, after, resultOf, code, problem] of [
    ['with an invalid event', 2, moved, 1, 'event 3 is not a PlantMoved'],
    ['with a gap', 0, withoutSecond, 1, 'event 3 found, expected version 2'],
    ['without its last events', 2, () => end, 1, DELETED],
    ['that is reset meanwhile', 2, () => ({ status: 'reset' }), 1, LOST],
    ['that is erased meanwhile', 0, () => store.erase(ALICE).then(() => end), 0],
    ['that becomes unavailable', 2, () => Promise.reject(new StoreUnavailable('away')), 3],
  ] as [what: string, after: number, Change, code: number, problem?: string][])
    it(`exits with ${code} for a history ${what}`, async () => {
      const read = store.read.bind(store);
      store.read = async (stream, { version, commit }) => {
        const result = await read(stream, { version, commit });
        return stream === ALICE && version >= after ? resultOf(result) : result;
      };
      const outcome = await verify('--user alice');
      expect(outcome.code).to.equal(code);
      if (problem !== undefined)
        expect(outcome.out.split('\n')[0]).to.equal(`plants/alice: ${problem}`);
    });

  const plants = [created(1, 'Fern', 'indoor'), created(2, '\u0000"\ud83c\udf35" \u2028', '')];
  const head = { version: 2, commit: 'plants/alice-2' };
  const chunks = [...plantListCodec.encode(listAfter(plants))];
  const right = { format: plantListCodec.format, head, chunks };
  const DIFFERS = 'its snapshot differs from the replay at version 2';
  const OTHER = 'its snapshot belongs to a different history';
  for (const [what, change, code, problem = ''] of [
    ['that equals the replay', {}, 0],
    ['in a different format', { format: 'plants-0', chunks: [] }, 0],
    [
      'with a different plant',
      { chunks: chunks.map((chunk) => chunk.replace('F', 'f')) },
      1,
      DIFFERS,
    ],
    ['with a different commit', { head: { ...head, commit: 'lost' } }, 1, OTHER],
    ['that is newer than the history', { head: { ...head, version: 9 } }, 1, OTHER],
    [
      'with an invalid chunk',
      { chunks: ['[1]'] },
      1,
      'its snapshot cannot be read: a chunk is not a JSON',
    ],
    ['that is broken', new BrokenSnapshot('half'), 1, 'its snapshot cannot be read: half'],
    ['whose store is unavailable', AWAY, 3],
  ] as readonly (readonly [string, Partial<KeptSnapshot> | Error, number, string?])[])
    it(`exits with ${code} for a snapshot ${what}`, async () => {
      const snapshots = new MemorySnapshots();
      if (change instanceof Error) snapshots.fault = change;
      else snapshots.kept.set(ALICE, { ...right, ...change });
      const outcome = await runCli({ store, snapshots }, 'events verify --user alice');
      expect(outcome.code).to.equal(code);
      expect(outcome.out).to.contain(problem && `plants/alice: ${problem}`);
    });

  for (const [what, kept] of [
    ['has no snapshot', undefined],
    ['had a snapshot', right],
  ] as const)
    it(`finds no problem in a stream that is erased and written again meanwhile, and ${what}`, async () => {
      const snapshots = new MemorySnapshots();
      if (kept) snapshots.kept.set(ALICE, kept);
      const read = store.read.bind(store);
      store.read = async (stream, after) => {
        if (stream === ALICE) {
          store.read = read;
          await store.erase(ALICE);
          snapshots.kept.clear();
          const event = plantKind.codec.encode(created(9, 'Aloe'));
          await store.append(ALICE, BEGINNING, 'new', [event]);
        }
        return read(stream, after);
      };
      const out = '2 streams, 4 events, 3 coins, 1 plant: no problems.\n';
      const outcome = await runCli({ store, snapshots }, 'events verify --user alice');
      expect(outcome).to.deep.equal({ code: 0, out, error: '' });
    });

  it('reads a snapshot again if it was replaced meanwhile', async () => {
    const snapshots = Object.assign(new MemorySnapshots(), { fault: new BrokenSnapshot('half') });
    const load = snapshots.load.bind(snapshots);
    snapshots.load = (stream) =>
      load(stream).finally(() => Object.assign(snapshots, { fault: undefined }));
    expect(await runCli({ store, snapshots }, 'events verify --user alice')).to.include({
      code: 0,
    });
  });
});

describe('events erase', () => {
  const asked =
    'alice has 3 events of plants and 3 events of jars. Erasing them cannot be undone.\n' +
    'To erase them, type the name of the user: ';
  const refused = `${asked}plant-store: the name does not match; nothing was erased\n`;

  for (const [answer, outcome, left] of [
    [
      'alice\n',
      { code: 0, out: 'Erased 6 events of alice.\n', error: asked },
      '1 stream, 3 events',
    ],
    ...['', 'Alice\n', 'alice ', 'bob\nalice\n'].map(
      (other) => [other, { code: 1, out: '', error: refused }, '3 streams, 9 events'] as const,
    ),
  ] as const)
    it(`shows what is stored, and erases it only if the user name is typed: ${JSON.stringify(answer)}`, async () => {
      const setup = { store, stdin: answer, isTerminal: true };
      expect(await runCli(setup, 'events erase --user alice')).to.deep.equal(outcome);
      expect((await verify()).out).to.contain(left);
    });

  it('asks for no confirmation with --yes, and prints one line per stream with --json', async () => {
    expect(await runCli({ store }, 'events erase --user alice --yes --json')).to.deep.equal({
      code: 0,
      out: '{"stream":"plants/alice","events":3,"back":false}\n{"stream":"jars/alice","events":3,"back":false}\n',
      error: '',
    });
  });

  const UNKNOWN =
    'this version does not know all categories of the streams in the store (boxes): ' +
    'they may have events of the user, and were not erased';
  const writeAgain = () => {
    const erase = store.erase.bind(store);
    store.erase = (stream) => {
      if (stream === ALICE) setTimeout(() => void record(store, ALICE, [created(1, 'late')]), 5);
      return erase(stream);
    };
  };
  const WRITTEN = 'plants/alice was written to again: revoke the tokens, then repeat the command';
  for (const [user, message, left, prepare] of [
    ['alcie', 'nothing is stored for alcie', 3, () => {}],
    ['alice', UNKNOWN, 1, () => record(store, 'boxes/bob', [ADDED])],
    ['alice', WRITTEN, 2, writeAgain],
  ] as const)
    it(`exits with 1 and prints: ${message}`, async () => {
      await prepare();
      const { code, error } = await runCli({ store }, 'events erase --yes --user', user);
      expect({ code, error }).to.deep.equal({ code: 1, error: `plant-store: ${message}\n` });
      expect((await verify()).out).to.contain(`${left} stream`);
    });
});
