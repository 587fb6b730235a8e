import { execFileSync } from 'node:child_process';
import { lstatSync, readFileSync, readdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { type FileHandle, open, readFile } from 'node:fs/promises';
import { Writable } from 'node:stream';
import { expect } from 'chai';
import { newSeal } from '../../../src/adapters/cli/event-file';
import { MemoryEventStore } from '../../../src/adapters/memory/event-store';
import { BEGINNING, StoreUnavailable, UnreadableHistory } from '../../../src/event-sourcing';
import { created, deleted, encoded, ferns, plantId, plantsOf } from '../../support/given';
import { temporaryDirectory } from '../../support/temporary-directory';
import { ADDED, EMPTIED, aStore, exported, record, runCli } from './fixture';

const ALICE = plantsOf('alice');

describe('events export', () => {
  const path = temporaryDirectory();

  it('writes one event per line, exactly, between a header and a trailer', async () => {
    const store = new MemoryEventStore();
    await record(store, 'plants/bob', [
      created(plantId(2n ** 63n - 1n), 'Fern "1"', ''),
      deleted(plantId(2n ** 63n - 1n)),
    ]);
    await store.append(ALICE, BEGINNING, '1795209633123-1', encoded(created(1, 'Moss')));
    await record(store, 'jars/alice', [ADDED, EMPTIED]);
    const body = `{"format":"plant-store events","version":3}
{"stream":"jars/alice","version":1,"commit":"jars/alice-1","type":"Added","version":3,"stream":"\\"x\\""}
{"stream":"jars/alice","version":2,"commit":"jars/alice-1","type":"Emptied"}
{"stream":"plants/alice","version":1,"time":"2026-11-20T21:20:33.123Z","commit":"1795209633123-1","type":"PlantCreated","id":"1","name":"Moss"}
{"stream":"plants/bob","version":1,"commit":"plants/bob-1","type":"PlantCreated","id":"9223372036854775807","name":"Fern \\"1\\"","tag":""}
{"stream":"plants/bob","version":2,"commit":"plants/bob-1","type":"PlantDeleted","id":"9223372036854775807"}
`;
    expect(await runCli({ store }, 'events export')).to.deep.equal({
      code: 0,
      out: `${body}{"streams":3,"events":5,"seal":"${newSeal().update(body).digest('hex')}"}\n`,
      error: 'Exported 5 events of 3 streams.\n',
    });
    const some = await exported(store, '--user', 'bob', '--user', 'alice', '--user', 'bob');
    expect(some).to.equal(await exported(store));
    expect((await exported(store, '--user', 'bob')).split('\n')).to.have.length(5);
  });

  for (const [typed, message, prepare] of [
    ['--user alcie', 'nothing is stored for alcie', () => {}],
    [
      '--quiet',
      'the store has boxes/bob, whose category this version does not know; --user exports single users',
      (store) => record(store, 'boxes/bob', [ADDED]),
    ],
    [
      '--user alice',
      'the events of jars/alice cannot be read: event 3 is wrong. The export is incomplete. `events verify` lists all unreadable histories; --user exports single users.',
      (store) => (store.read = () => Promise.reject(new UnreadableHistory('event 3 is wrong'))),
    ],
  ] as readonly (readonly [string, string, (store: MemoryEventStore) => unknown])[])
    it(`exits with 1, and what it wrote is no export: ${message}`, async () => {
      const store = await aStore();
      await prepare(store);
      const { code, out, error } = await runCli({ store }, `events export ${typed}`);
      expect({ code, error }).to.deep.equal({ code: 1, error: `plant-store: ${message}\n` });
      expect(await runCli({ stdin: out }, 'events import')).to.include({ code: 1 });
    });

  it('never ends within a commit while others append', async () => {
    const store = await aStore();
    const read = store.read.bind(store);
    store.read = async (stream, after) => {
      const head = (await store.head(ALICE))!;
      const three = ferns(3).map((fern, index) => ({ ...fern, id: plantId(100 + head.version + index) }));
      if (head.version < 60) await store.append(ALICE, head, `x${head.version}`, encoded(...three));
      return read(stream, after);
    };
    const target = new MemoryEventStore();
    expect(await runCli({ store: target, stdin: await exported(store) }, 'events import')).to.include({
      code: 0,
    });
    const events = (text: string) =>
      text.split('\n').filter((line) => line.startsWith('{"stream":"plants/alice"'));
    const [there, here] = [events(await exported(store)), events(await exported(target))];
    expect(here).to.deep.equal(there.slice(0, here.length));
    expect(here.length % 3).to.equal(0);
  });

  it('holds one page while its reader is slow', async () => {
    const store = new MemoryEventStore(10);
    await record(store, ALICE, ferns(2000));
    const read = store.read.bind(store);
    let [pages, taken, take] = [0, '', () => {}];
    store.read = (...args) => (pages++, read(...args));
    const stdout = new Writable({
      highWaterMark: 1,
      write: (chunk: Buffer, _, done) => ([taken, take] = [taken + chunk.toString(), done]),
    });
    const outcome = runCli({ store, stdout }, 'events export --quiet');
    for (let turn = 0; turn < 50; turn++) await new Promise(setImmediate);
    expect(pages).to.be.below(3);
    const pump = setInterval(() => take(), 0);
    expect(await outcome).to.include({ code: 0 });
    clearInterval(pump);
    expect(taken.split('\n')).to.have.length(2003);
  });

  it('replaces a file once it is complete and flushed to the disk, readable by its owner only', async () => {
    const store = await aStore();
    writeFileSync(path('out'), 'an earlier export');
    const file = await open(path('out'));
    await file.close();
    const handles = Object.getPrototypeOf(file) as FileHandle;
    const { sync } = handles;
    const atFlush: string[] = [];
    handles.sync = function () {
      atFlush.push(readFileSync(path('out'), 'utf8'));
      return sync.call(this);
    };
    const exporting = runCli({ store }, 'events export -o', path('out'));
    const error = `${path('out')} exists, and is replaced once the export is complete.\nExported 9 events of 3 streams.\n`;
    expect(await exporting.finally(() => (handles.sync = sync))).to.deep.equal({ code: 0, out: '', error });
    expect(atFlush).to.deep.equal(['an earlier export']);
    expect(readFileSync(path('out'), 'utf8')).to.equal(await exported(store));
    expect(statSync(path('out')).mode & 0o777).to.equal(0o600);

    expect((await runCli({ store }, 'events export -o', path('no/out'))).error).to.contain('ENOENT');
    store.read = () => Promise.reject(new StoreUnavailable('away'));
    expect(await runCli({ store }, 'events export -o', path('out'))).to.include({ code: 3 });
    expect(readdirSync(path(''))).to.deep.equal(['out']);
  });

  it('replaces the target of a symbolic link, and writes to a pipe directly', async () => {
    const store = await aStore();
    writeFileSync(path('real'), 'of before');
    symlinkSync(path('real'), path('link'));
    await exported(store, '--output', path('link'));
    expect(lstatSync(path('link')).isSymbolicLink()).to.equal(true);
    expect(readFileSync(path('real'), 'utf8')).to.equal(await exported(store));
    execFileSync('mkfifo', [path('pipe')]);
    const read = readFile(path('pipe'), 'utf8');
    await exported(store, '--output', path('pipe'));
    expect(await read).to.equal(await exported(store));
    expect(readdirSync(path('')).sort()).to.deep.equal(['link', 'pipe', 'real']);
  });
});
