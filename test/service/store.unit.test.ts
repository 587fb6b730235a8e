import { writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { expect } from 'chai';
import { pino } from 'pino';
import {
  BEGINNING,
  OutcomeUnknown,
  StoreUnavailable,
  UnreadableHistory,
  streamOf,
} from '../../src/event-sourcing';
import { readConfig } from '../../src/service/config';
import { readiness } from '../../src/service/readiness';
import { UnusableStoreModule, closeStore, openStore } from '../../src/service/store';
import { ManualClock, untilIdle } from '../support/manual-clock';
import { HttpClient } from '../support/client';
import { metricsOf } from '../support/metrics';
import { startWatched } from '../support/watched-service';
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
    [
      'export const openEventStore = () => ({ store: { read() {} }, check() {}, close() {} });',
      returned,
    ],
    [
      "export const openEventStore = () => { throw new Error('no PGHOST'); }",
      'failed: Error: no PGHOST',
    ],
  ] as const)
    it(`is refused with its path and the problem: ${code}`, async () => {
      expect(await rejection(open(code)))
        .to.be.instanceOf(UnusableStoreModule)
        .with.property('message')
        .that.includes(file)
        .and.includes(problem);
    });

  it('is refused if it is not a regular file, because Node would read a device forever', async () => {
    const { config } = readConfig({ EVENT_STORE: path('.'), AUTH_TOKENS: 'a:b' });
    expect(await rejection(openStore(config!, pino({ enabled: false }))))
      .to.be.instanceOf(UnusableStoreModule)
      .with.property('message', `there is no file ${resolve(path('.'))}`);
  });

  it('may be a CommonJS module whose exports Node cannot detect, and return an instance of a class', async () => {
    file = path('store.cjs');
    const can = { reads: true, writes: false };
    const { check, status, index, locate } = await open(`class Opened {
        #can = ${JSON.stringify(can)};
        store = { read() {}, append() {} };
        async check() { return this.#can; }
        status() { return this.#can; }
        locate(stream) { return stream + this.#can.reads; }
        close() {}
      }
      const exported = { openEventStore: () => new Opened() };
      module.exports = { ...exported };`);
    expect([await check(), status!(), index]).to.deep.equal([can, can, undefined]);
    expect(locate!(streamOf('plants', 'a'))).to.equal('plants/atrue');
  });

  it('has its faults recognized by name, because it may use a different copy of this package', async () => {
    const fail = (fault: string) => `{ throw Object.assign(new Error('away'), ${fault}); }`;
    const away = fail('{ name: "StoreUnavailable" }');
    const { store, index, snapshots, check } =
      await open(`export const openEventStore = () => ({ async check() ${away}, close() {}, store: {
      async read() ${fail('{ name: "StoreUnavailable", reason: "store_refused", retryAfterMs: 7 }')},
      async append() ${fail('{ name: "OutcomeUnknown" }')} },
      index: { async head() ${fail('{ name: "UnreadableHistory" }')} },
      snapshots: {
        // The promises of some libraries have nothing but a method then.
        save() { return { then: (_, reject) => (async () => ${away})().catch(reject) }; },
        async load(stream) { if (stream === 'plants/a') ${away} return { chunks: (async function* () ${away})() }; },
      } });`);
    const stream = streamOf('plants', 'a');
    const { chunks } = (await snapshots!.load(streamOf('plants', 'b')))!;
    for (const call of [
      check(),
      snapshots!.load(stream),
      snapshots!.save(stream, { format: '', head: BEGINNING, chunks: [] }),
      chunks[Symbol.asyncIterator]().next(),
    ])
      expect(await rejection(call)).to.be.instanceOf(StoreUnavailable);
    expect(await rejection(store.read(stream, BEGINNING)))
      .to.be.instanceOf(StoreUnavailable)
      .and.to.include({ message: 'away', reason: 'store_refused', retryAfterMs: 7 });
    expect(await rejection(store.append(stream, BEGINNING, 'c', []))).to.be.instanceOf(
      OutcomeUnknown,
    );
    expect(await rejection(index!.head(stream))).to.be.instanceOf(UnreadableHistory);
    file = path('other.mjs');
    const unavailable = fail('{ name: "StoreUnavailable", reason: 1 }');
    expect(await rejection(open(`export function openEventStore() ${unavailable}`)))
      .to.be.instanceOf(StoreUnavailable)
      .and.to.include({ reason: 'store' });
  });
});

describe('A service with a store module', () => {
  const path = temporaryDirectory();

  it('still reports readiness and metrics while the check of its store rejects and its status throws', async () => {
    writeFileSync(
      path('store.mjs'),
      `const refused = Object.assign(new Error('a replica'), { name: 'StoreUnavailable', reason: 'store_refused' });
      export const openEventStore = () => ({
        store: { read() { throw refused; }, append() { throw refused; } },
        check() { throw refused; },
        status() { throw new Error('no status'); },
        close() {},
      });`,
    );
    const service = await startWatched({ EVENT_STORE: path('store.mjs') });
    for (let probe = 0; probe < 2; probe++) {
      const ready = await fetch(`${service.url}/health/ready`);
      expect([ready.status, await ready.text()].join(' ')).to.match(/^503 .*: reads_refused"\}$/);
      expect(
        (await metricsOf(service.url))('plant_store_event_store_available{operation="read"}'),
      ).to.equal(0);
    }
    expect((await new HttpClient(service.url).list()).error).to.equal(50300);
    expect(
      service.log.filter((line) => line.includes('the status of the event store throws')),
    ).to.have.length(1);
    await service.stop();
  });
});

describe('Closing the event store', () => {
  const broken = new Error('the pool is broken');
  for (const [how, close, ...reasons] of [
    ['logs nothing and leaves no timer if close succeeds', untilIdle],
    ['logs the error if close throws', () => expect.fail(broken.message), broken.message],
    ['logs the error if close rejects', () => Promise.reject(broken), broken.message],
    [
      'logs that close does not end in time',
      () => new Promise(() => {}),
      'it has not closed within 20 ms',
    ],
  ] as [how: string, close: () => Promise<void>, ...reasons: string[]][])
    it(how, async () => {
      const lines: unknown[] = [];
      const write = (line: string) => {
        const { msg, err } = JSON.parse(line) as { readonly msg: string; readonly err: Error };
        lines.push([msg, err.message]);
      };
      const timers = () =>
        process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;
      // From now on it has the timer of this test.
      await untilIdle();
      const before = timers();
      await closeStore({ close } as never, pino({}, { write }), reasons.length > 0 ? 20 : 60_000);
      expect(timers()).to.equal(before);
      expect(lines).to.deep.equal(
        reasons.map((reason) => ['the event store could not be closed', reason]),
      );
    });
});

describe('The readiness of the service', () => {
  const TIMEOUT_MS = 2000;
  const refused = new StoreUnavailable('a replica', { reason: 'store_refused' });
  for (const [what, check, can, ...reasons] of [
    ['works', async () => ({ writes: true }), 'reads and writes'],
    ['refuses writes', async () => ({ writes: false }), 'reads', 'writes_refused', 'oom'],
    ['refuses reads', () => Promise.reject(refused), '', 'reads_refused', 'oom'],
    ['is unreachable', () => Promise.reject(new StoreUnavailable('away')), '', 'store_unreachable'],
    ['answers with undefined', async () => undefined as never, '', 'store_unreachable'],
    ['does not answer in time', () => new Promise(() => {}), '', 'store_timeout'],
  ] as [
    what: string,
    check: () => Promise<{ writes: boolean }>,
    can: string,
    ...reasons: string[],
  ][])
    it(`is reported for a store that ${what}`, async () => {
      const clock = new ManualClock();
      const status = () => ({ reads: true, writes: true, refusals: ['oom'] });
      const [reads, writes] = [can.includes('reads'), can.includes('writes')];
      const expected = { reads, writes, ...(reasons.length > 0 && { reasons }) };
      const probe = readiness({ check, status }, clock, TIMEOUT_MS)();
      await clock.pass(TIMEOUT_MS);
      expect(await probe).to.deep.equal(expected);
    });

  it('is checked once for all probes during the check and in the second after its result', async () => {
    const clock = new ManualClock();
    const asked: ((value: { readonly writes: boolean }) => void)[] = [];
    // A module need not tell its status.
    const check = () =>
      new Promise<{ readonly writes: boolean }>((resolve) => void asked.push(resolve));
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
