import { expect } from 'chai';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  BEGINNING,
  FEED_BEGINNING,
  BrokenSnapshot,
  OutcomeUnknown,
  StoreUnavailable,
  UnreadableHistory,
} from '../../src/event-sourcing';
import type { ModulePath } from '../../src/service/config';
import { UnusableStoreModule, checkStoreModule, openStoreModule } from '../../src/service/store-module';
import { streamName } from '../../src/testing/a-stream';

const alice = streamName('alice');

describe('The module of EVENT_STORE', () => {
  let directory: string;
  let file: ModulePath;
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'plant-store-module-'));
    // Another directory for each test, because Node loads a file only once.
    file = join(directory, 'store.mjs') as ModulePath;
  });
  afterEach(() => rmSync(directory, { recursive: true }));

  const open = (code: string) => {
    writeFileSync(file, code);
    return openStoreModule(file, {});
  };
  const rejection = (work: Promise<unknown>) =>
    work.then(
      () => expect.fail('did not reject'),
      (error: unknown) => error as Error,
    );

  const METHODS = 'store.read, store.append, check, close';
  const problems: Readonly<Record<string, readonly [code: string | undefined, problem: string]>> = {
    'there is no such file': [undefined, 'EVENT_STORE names FILE, and there is no such file'],
    'it has a syntax error': [
      'export function (',
      'FILE, which EVENT_STORE names, cannot be loaded: Function statements require a function name',
    ],
    'it imports a missing package': [
      "import 'no-such-package';",
      "FILE, which EVENT_STORE names, cannot be loaded: Cannot find package 'no-such-package' imported from FILE",
    ],
    'it exports another name': [
      'export const open = 1, close = 2;',
      'FILE, which EVENT_STORE names, must export a function openEventStore; it exports close, open',
    ],
    'it exports nothing': [
      '',
      'FILE, which EVENT_STORE names, must export a function openEventStore; it exports nothing',
    ],
    'it returns nothing': [
      'export function openEventStore() {}',
      `openEventStore of FILE must return an OpenEventStore; without these methods it is none: ${METHODS}`,
    ],
    'it returns an incomplete store': [
      'export const openEventStore = () => ({ store: { read() {} }, check() {}, catalogue: { find() {}, streams() {} }, archive: { trim() {}, bytes() {} }, feed: { read() {}, end() {}, notify: 1 } });',
      'openEventStore of FILE must return an OpenEventStore; without these methods it is none: store.append, close, catalogue.erase, snapshots.load, snapshots.save, snapshots.loadBase, archive.saveBase, feed.bucketOf, feed.notify, feed.buckets',
    ],
    'it returns null for a part': [
      'export const openEventStore = () => ({ store: null, check() {}, close() {}, catalogue: null });',
      'openEventStore of FILE must return an OpenEventStore; without these methods it is none: store.read, store.append, catalogue.streams, catalogue.find, catalogue.erase',
    ],
    ...Object.fromEntries(
      [0, -1, 1.5, '"2"'].map((buckets) => [
        `its feed has ${buckets} buckets`,
        [
          `export const openEventStore = () => ({ store: { read() {}, append() {} }, check() {}, close() {}, feed: { buckets: ${buckets}, bucketOf() {}, read() {}, end() {} } });`,
          'openEventStore of FILE must return an OpenEventStore; without these methods it is none: feed.buckets',
        ] as const,
      ]),
    ),
    'it has an optional member of another type': [
      'export const openEventStore = () => ({ store: { read() {}, append() {}, notify: 1 }, check() {}, close() {}, mintCommit: null, status: {}, snapshots: { load() {}, save() {}, loadBase: 1 } });',
      'openEventStore of FILE must return an OpenEventStore; without these methods it is none: store.notify, mintCommit, status, snapshots.loadBase',
    ],
    'it throws': [
      "export function openEventStore() { throw new Error('PGHOST is not set'); }",
      'openEventStore of FILE failed: PGHOST is not set',
    ],
  };
  for (const [what, [code, problem]] of Object.entries(problems)) {
    it(`is refused with its path and the problem: ${what}`, async () => {
      const error = await rejection(code === undefined ? openStoreModule(file, {}) : open(code));
      expect(error).to.be.instanceOf(UnusableStoreModule);
      expect(error.message).to.equal(problem.replaceAll('FILE', file));
      if (/cannot be loaded|failed/.test(problem)) expect(error.cause).to.be.instanceOf(Error);
    });
  }

  it('can be checked without opening its store', async () => {
    expect(await rejection(checkStoreModule(file))).to.be.instanceOf(UnusableStoreModule);
    writeFileSync(file, "export function openEventStore() { throw new Error('opened'); }");
    await checkStoreModule(file);
    const endless = file.replace('store.mjs', 'endless.mjs') as ModulePath;
    writeFileSync(endless, 'await new Promise(() => {});');
    expect(await rejection(checkStoreModule(endless, 50)))
      .to.be.instanceOf(UnusableStoreModule)
      .with.property('message', `${endless}, which EVENT_STORE names, was not loaded within 50 ms`);
  });

  it('leaves no timer, and resolves its check with the state of writes alone', async () => {
    const timers = async () => {
      await new Promise(setImmediate);
      return process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;
    };
    const before = await timers();
    const { check } = await open(
      'export const openEventStore = () => ({ store: { read() {}, append() {} }, check: () => ({ writes: false, more: 1 }), close() {} });',
    );
    expect(await timers()).to.equal(before);
    expect(await check()).to.deep.equal({ writes: false });
  });

  const neverSettled: Readonly<Record<string, string>> = {
    'openEventStore does': 'export const openEventStore = () => new Promise(() => {});',
    'the module does': 'await new Promise(() => {}); export const openEventStore = 1;',
  };
  for (const [what, code] of Object.entries(neverSettled)) {
    it(`is refused with its path after a time if its promise is never settled: ${what}`, async () => {
      writeFileSync(file, code);
      const error = await rejection(openStoreModule(file, {}, 50));
      expect(error).to.be.instanceOf(UnusableStoreModule);
      expect(error.message).to.equal(`openEventStore of ${file} did not return within 50 ms`);
    });
  }

  it('rejects its check if that resolves with another value, and reports it once', async () => {
    const reports: string[] = [];
    writeFileSync(
      file,
      'export const openEventStore = () => ({ store: { read() {}, append() {} }, check() {}, close() {} });',
    );
    const { check } = await openStoreModule(file, {
      report: (level, message) => void reports.push(`${level}: ${message}`),
    });
    const problem = `check() of ${file} must resolve with { writes: boolean }; the service is not ready`;
    for (let times = 0; times < 3; times++) expect((await rejection(check())).message).to.equal(problem);
    expect(reports).to.deep.equal([`error: ${problem}`]);
  });

  it('rejects its check also if nothing is to be reported', async () => {
    const { check } = await open(
      'export const openEventStore = () => ({ store: { read() {}, append() {} }, check() {}, close() {} });',
    );
    expect(await rejection(check()))
      .to.be.instanceOf(TypeError)
      .with.property('message')
      .that.includes(file);
  });

  it('may be a CommonJS module whose exports Node cannot name', async () => {
    file = file.replace('.mjs', '.cjs') as ModulePath;
    const opened = await open(`
      const exported = { openEventStore: () => ({ store: { read() {}, append() {} }, check() {}, close() {} }) };
      module.exports = Object.assign({}, exported);`);
    expect(opened.catalogue).to.equal(undefined);
    expect([opened.snapshots, opened.archive]).to.deep.equal([undefined, undefined]);
  });

  it('is unavailable if it throws a StoreUnavailable of another copy of the package', async () => {
    const error = await rejection(
      open(`
        class StoreUnavailable extends Error { name = 'StoreUnavailable' }
        export async function openEventStore() { throw new StoreUnavailable('no route to host'); }`),
    );
    expect(error).to.be.instanceOf(StoreUnavailable).and.to.have.property('message', 'no route to host');
  });

  for (const Fault of [StoreUnavailable, OutcomeUnknown, UnreadableHistory, BrokenSnapshot]) {
    it(`rejects with the service’s own ${Fault.name} for an error of that name, in each of its calls`, async () => {
      const { store, catalogue, snapshots, archive, feed } = await open(`
        function fail() { throw Object.assign(new Error('why'), { name: '${Fault.name}' }); }
        async function* failLater() { yield fail(); }
        export function openEventStore() {
          return {
            store: { read: fail, append: fail },
            catalogue: { streams: failLater, find: fail, erase: fail },
            snapshots: { load: () => ({ chunks: failLater() }), loadBase: fail, save: fail },
            archive: { saveBase: fail, trim: fail, bytes: fail },
            feed: { buckets: 1, bucketOf() {}, read: fail, end: fail },
            check() {}, close() {},
          };
        }`);
      const calls = [
        store.read(alice, BEGINNING),
        store.append(alice, BEGINNING, 'a commit', []),
        catalogue!.find(alice),
        catalogue!.erase(alice),
        catalogue!.streams()[Symbol.asyncIterator]().next(),
        snapshots!.load(alice).then((snapshot) => snapshot!.chunks[Symbol.asyncIterator]().next()),
        snapshots!.save(alice, { format: '', head: BEGINNING, chunks: [] }),
        snapshots!.loadBase!(alice),
        archive!.saveBase(alice, { format: '', head: BEGINNING, chunks: [], archive: '' }, 0, async () => {}),
        archive!.trim(alice, BEGINNING),
        archive!.bytes(alice),
        feed!.read(0, [FEED_BEGINNING]),
        feed!.end(0),
      ];
      for (const call of calls) {
        const error = await rejection(call);
        expect(error).to.be.instanceOf(Fault).and.to.have.property('message', 'why');
      }
    });
  }

  it('keeps the time after which to retry, a known reason, and the cause', async () => {
    const { store } = await open(`
      export function openEventStore() {
        const fault = Object.assign(new Error(), { name: 'StoreUnavailable', retryAfterMs: 250, reason: 'waiting_appends' });
        return { store: { read() { throw fault; }, append() {} }, check() {}, close() {} };
      }`);
    const error = await rejection(store.read(alice, BEGINNING));
    expect(error).to.include({ retryAfterMs: 250, reason: 'waiting_appends' });
    expect(error.cause).to.have.property('name', 'StoreUnavailable');
  });

  it('passes every other error on, as a bug of the store', async () => {
    const { store } = await open(`
      export function openEventStore() {
        return { store: { read() { throw new TypeError('why'); }, append() {} }, check() {}, close() {} };
      }`);
    expect(await rejection(store.read(alice, BEGINNING))).to.be.instanceOf(TypeError);
  });
});
