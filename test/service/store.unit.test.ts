import { writeFileSync } from 'node:fs';
import { expect } from 'chai';
import { pino } from 'pino';
import { OutcomeUnknown, StoreUnavailable } from '../../src/event-sourcing';
import { readConfig } from '../../src/service/config';
import { UnusableStoreModule, closeStore, loadStoreModule, openStore } from '../../src/service/store';
import { untilIdle } from '../support/manual-clock';
import { rejection } from '../support/rejection';
import { temporaryDirectory } from '../support/temporary-directory';

describe('The module of EVENT_STORE', () => {
  // Another directory for each test, because Node loads a file only once.
  const path = temporaryDirectory();
  let file: string;
  beforeEach(() => (file = path('store.mjs')));

  const open = (code: string) => {
    writeFileSync(file, code);
    const { config } = readConfig({ EVENT_STORE: file, AUTH_TOKENS: 'a:b' });
    return openStore(config!, pino({ enabled: false }));
  };

  const problems: Readonly<Record<string, readonly [code: string, problem: string]>> = {
    'has a syntax error': ['export function (', 'cannot be loaded: SyntaxError: Function statements'],
    'imports a missing package': ["import 'no-such-package';", "Cannot find package 'no-such-package'"],
    'exports another name': ['export const open = 1;', 'must export a function openEventStore'],
    'returns nothing': ['export function openEventStore() {}', 'failed: TypeError'],
    'returns an incomplete store': [
      'export const openEventStore = () => ({ store: { read() {} }, check() {} });',
      'it must return { store: { read, append }, check, close }',
    ],
    throws: [
      "export const openEventStore = () => { throw new Error('no PGHOST'); }",
      'failed: Error: no PGHOST',
    ],
  };
  for (const [what, [code, problem]] of Object.entries(problems))
    it(`is refused with its path and the problem if it ${what}`, async () => {
      const error = await rejection(open(code));
      expect(error).to.be.instanceOf(UnusableStoreModule);
      expect((error as Error).message)
        .to.include(file)
        .and.include(problem);
    });

  it('is refused if there is no such file', async () => {
    expect(await rejection(loadStoreModule(file)))
      .to.be.instanceOf(UnusableStoreModule)
      .with.property('message', `there is no file ${file}`);
  });

  it('can be checked without opening its store', async () => {
    writeFileSync(file, "export function openEventStore() { throw new Error('opened'); }");
    await loadStoreModule(file);
  });

  it('may be a CommonJS module whose exports Node cannot name, and its store an object of a class', async () => {
    file = file.replace('.mjs', '.cjs');
    const { check, status, index } = await open(`class Opened {
        #writes = false;
        store = { read() {}, append() {} };
        async check() { return { writes: this.#writes }; }
        status() { return { reads: true, writes: this.#writes }; }
        close() {}
      }
      const exported = { openEventStore: () => new Opened() };
      module.exports = { ...exported };`);
    expect(await check()).to.deep.equal({ writes: false });
    expect(status!()).to.deep.equal({ reads: true, writes: false });
    expect(index).to.equal(undefined);
  });

  it('has its faults recognized by their names: it may have another copy of this package, or none', async () => {
    const fail =
      'const fail = (name, more) => { throw Object.assign(new Error("away"), { name, ...more }); };';
    const { store } = await open(`${fail}
      export const openEventStore = () => ({ check() {}, close() {}, store: {
        async read() { fail("StoreUnavailable", { reason: "store_refused", retryAfterMs: 7 }); },
        async append() { fail("OutcomeUnknown"); } } });`);
    expect(await rejection(store.read('plants/a' as never, { version: 0, commit: '' })))
      .to.be.instanceOf(StoreUnavailable)
      .and.to.include({ message: 'away', reason: 'store_refused', retryAfterMs: 7 });
    expect(
      await rejection(store.append('plants/a' as never, { version: 0, commit: '' }, 'c', [])),
    ).to.be.instanceOf(OutcomeUnknown);
    file = path('other.mjs');
    const unavailable = open(
      `${fail} export const openEventStore = () => fail("StoreUnavailable", { reason: 1 });`,
    );
    expect(await rejection(unavailable))
      .to.be.instanceOf(StoreUnavailable)
      .and.to.include({ reason: 'store' });
  });
});

describe('Closing the event store', () => {
  const lines: string[] = [];
  const log = pino({}, { write: (line: string) => void lines.push(line) });
  beforeEach(() => (lines.length = 0));
  const close = (how: () => void | Promise<void>, timeoutMs = 60_000) =>
    closeStore({ close: how } as never, log, timeoutMs);

  it('waits until it is closed, logs nothing, and leaves no timer', async () => {
    const timers = () => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;
    // From now on it has the timer of this test.
    await untilIdle();
    const before = timers();
    let closed = false;
    await close(async () => {
      await untilIdle();
      closed = true;
    });
    expect([closed, lines, timers()]).to.deep.equal([true, [], before]);
  });

  for (const [how, failing, reason] of [
    ['throws', () => expect.fail('the pool is broken'), 'the pool is broken'],
    ['rejects', () => Promise.reject(new Error('the pool is broken')), 'the pool is broken'],
    ['does not end', () => new Promise<void>(() => {}), 'it has not closed within 20 ms'],
  ] as const)
    it(`logs why it failed if it ${how}`, async () => {
      await close(failing, 20);
      const line = JSON.parse(lines[0]!) as { readonly msg: string; readonly err: Error };
      expect([line.msg, line.err.message]).to.deep.equal(['the event store could not be closed', reason]);
    });
});
