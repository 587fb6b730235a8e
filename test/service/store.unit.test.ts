import { writeFileSync } from 'node:fs';
import { expect } from 'chai';
import { pino } from 'pino';
import { OutcomeUnknown, StoreUnavailable } from '../../src/event-sourcing';
import { readConfig } from '../../src/service/config';
import { readiness } from '../../src/service/readiness';
import { UnusableStoreModule, closeStore, openStore } from '../../src/service/store';
import { ManualClock, untilIdle } from '../support/manual-clock';
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

  const returned = 'it must return { store: { read, append }, check, close }';
  for (const [code, problem] of [
    ['export function (', 'cannot be loaded: SyntaxError: Function statements'],
    ["import 'no-such-package';", "Cannot find package 'no-such-package'"],
    ['export const open = 1;', 'must export a function openEventStore'],
    ['export function openEventStore() {}', 'failed: TypeError'],
    ['export const openEventStore = () => ({ store: { read() {} }, check() {}, close() {} });', returned],
    ["export const openEventStore = () => { throw new Error('no PGHOST'); }", 'failed: Error: no PGHOST'],
  ] as const)
    it(`is refused with its path and the problem: ${code}`, async () => {
      expect(await rejection(open(code)))
        .to.be.instanceOf(UnusableStoreModule)
        .with.property('message')
        .that.includes(file)
        .and.includes(problem);
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

  it('waits until it is closed, logs nothing, and leaves no timer', async () => {
    const timers = () => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;
    // From now on it has the timer of this test.
    await untilIdle();
    const before = timers();
    let closed = false;
    const close = async () => {
      await untilIdle();
      closed = true;
    };
    await closeStore({ close } as never, log, 60_000);
    expect([closed, lines, timers()]).to.deep.equal([true, [], before]);
  });

  for (const [how, close, reason] of [
    ['throws', () => expect.fail('the pool is broken'), 'the pool is broken'],
    ['rejects', () => Promise.reject(new Error('the pool is broken')), 'the pool is broken'],
    ['does not end', () => new Promise<void>(() => {}), 'it has not closed within 20 ms'],
  ] as const)
    it(`logs why it failed if it ${how}`, async () => {
      await closeStore({ close } as never, log, 20);
      const line = JSON.parse(lines[0]!) as { readonly msg: string; readonly err: Error };
      expect([line.msg, line.err.message]).to.deep.equal(['the event store could not be closed', reason]);
    });
});

describe('The readiness of the service', () => {
  const TIMEOUT_MS = 2000;
  const refused = new StoreUnavailable('a replica', { reason: 'store_refused' });
  const rows: [what: string, check: () => Promise<{ writes: boolean }>, can: string, ...reasons: string[]][] =
    [
      ['works', async () => ({ writes: true }), 'reads and writes'],
      ['refuses writes', async () => ({ writes: false }), 'reads', 'writes_refused', 'oom'],
      ['refuses reads', () => Promise.reject(refused), '', 'reads_refused', 'oom'],
      ['is away', () => Promise.reject(new StoreUnavailable('away')), '', 'store_unreachable'],
      ['does not answer in time', () => new Promise(() => {}), '', 'store_timeout'],
    ];
  for (const [what, check, can, ...reasons] of rows)
    it(`is reported of a store that ${what}`, async () => {
      const clock = new ManualClock();
      const status = () => ({ reads: true, writes: true, refusals: ['oom'] });
      const [reads, writes] = [can.includes('reads'), can.includes('writes')];
      const expected = { reads, writes, ...(reasons.length > 0 && { reasons }) };
      const probe = readiness({ check, status }, clock, TIMEOUT_MS)();
      await clock.pass(TIMEOUT_MS);
      expect(await probe).to.deep.equal(expected);
    });

  it('is checked once for all probes during the check and within a second of its result', async () => {
    const clock = new ManualClock();
    const asked: ((value: { readonly writes: boolean }) => void)[] = [];
    // A module need not tell its status.
    const check = () => new Promise<{ readonly writes: boolean }>((resolve) => void asked.push(resolve));
    const ready = readiness({ check }, clock, TIMEOUT_MS);
    const probes = [ready(), ready()];
    await clock.pass(1500);
    probes.push(ready());
    asked[0]!({ writes: false });
    const expected = { reads: true, writes: false, reasons: ['writes_refused'] };
    expect(await Promise.all(probes)).to.deep.equal([expected, expected, expected]);
    await clock.pass(999);
    await ready();
    expect(asked).to.have.length(1);
    await clock.pass(1);
    void ready();
    expect(asked).to.have.length(2);
  });
});
