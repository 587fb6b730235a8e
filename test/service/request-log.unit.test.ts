import { expect } from 'chai';
import { pino } from 'pino';
import { OutcomeUnknown, StoreUnavailable } from '../../src/event-sourcing';
import type { RequestReport } from '../../src/adapters/http';
import { parseUser } from '../../src/application';
import type { UserNames } from '../../src/service/log';
import { LogDestination } from '../../src/service/log-destination';
import { logRequests } from '../../src/service/request-log';
import { ManualClock } from '../support/manual-clock';

describe('The request log, while requests fail with 503', () => {
  function opened(level = 'warn') {
    const lines: Record<string, unknown>[] = [];
    const write = (line: string) => void lines.push(JSON.parse(line) as Record<string, unknown>);
    const clock = new ManualClock();
    const requests = logRequests(pino({ level }, { write }), (user) => user, clock);
    const fail = (error: Error) =>
      requests.report({
        requestId: 'r',
        method: 'GET',
        status: 503,
        durationMs: 1,
        errorNumber: 50300,
        reason: error.name,
        error,
      });
    return { lines, clock, fail, requests };
  }

  it('has a line for the first failure, and then one per second with the count and the latest reason', async () => {
    const { lines, clock, fail } = opened();
    for (let tenth = 0; tenth < 25; tenth++) {
      for (let request = 0; request < 100; request++) fail(new StoreUnavailable(`away since ${tenth}`));
      await clock.pass(100);
    }
    await clock.pass(10_000);
    const told = lines.map(({ msg, cause, failures }) => [msg, failures ?? 1, cause]);
    expect(told).to.deep.equal([
      ['request', 1, 'StoreUnavailable: away since 0'],
      ['more requests failed', 999, 'StoreUnavailable: away since 9'],
      ['more requests failed', 1000, 'StoreUnavailable: away since 19'],
      ['more requests failed', 500, 'StoreUnavailable: away since 24'],
    ]);
  });

  it('has a line for the next failure after a second without any', async () => {
    const { lines, clock, fail } = opened();
    fail(new StoreUnavailable('away'));
    await clock.pass(1000);
    fail(new StoreUnavailable('away again'));
    expect(lines.map(({ msg }) => msg)).to.deep.equal(['request', 'request']);
  });

  it('has a line for each of them at level info, with the error number, the reason and the cause', () => {
    const { lines, fail } = opened('info');
    for (let request = 0; request < 3; request++) fail(new StoreUnavailable(`away ${request}`));
    const due = [40, 30, 30].map((level, request) => ({
      level,
      error: 50300,
      reason: 'StoreUnavailable',
      cause: `StoreUnavailable: away ${request}`,
    }));
    expect(lines.map(({ level, error, reason, cause }) => ({ level, error, reason, cause }))).to.deep.equal(
      due,
    );
  });

  it('counts the failures for each reason separately', () => {
    const { lines, fail, requests } = opened();
    for (const error of [new StoreUnavailable('away'), new OutcomeUnknown('no reply')])
      for (let request = 0; request < 3; request++) fail(error);
    requests.close();
    expect(lines.map(({ msg, failures }) => [msg, failures])).to.deep.equal([
      ['request', undefined],
      ['request', undefined],
      ['more requests failed', 2],
      ['more requests failed', 2],
    ]);
  });
});

describe('The request log', () => {
  const REQUEST: RequestReport = {
    requestId: 'r',
    method: 'GET',
    route: '/plants',
    status: 200,
    durationMs: 1.23456,
    user: parseUser('alice')!,
    traceparent: `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`,
  };

  let named: number;
  beforeEach(() => (named = 0));

  /** What is logged of `request`, without the fields of each line; the same if its lines are written from templates. */
  function logged(request: RequestReport, level = 'info'): Record<string, unknown>[] {
    const [plain, templates] = [false, true].map((fromTemplates) => {
      const chunks: Buffer[] = [];
      const write = (bytes: Uint8Array) => chunks.push(Buffer.from(bytes)) && bytes.length;
      const destination = new LogDestination({ write });
      const log = pino({ level, base: null, timestamp: !fromTemplates }, destination);
      const nameOf: UserNames = (user) => (named++, `the name of ${user}`);
      logRequests(log, nameOf, new ManualClock(), fromTemplates ? destination : undefined).report(request);
      destination.flushSync();
      const text = Buffer.concat(chunks).toString().trim();
      return text === '' ? [] : text.split('\n').map((line) => JSON.parse(line) as Record<string, unknown>);
    });
    for (const line of plain!) delete line['time'];
    expect(templates).to.deep.equal(plain);
    return plain!;
  }

  it('has a line with the name of the user, the duration in microseconds, and the trace', () => {
    expect(logged(REQUEST)).to.deep.equal([
      {
        level: 30,
        msg: 'request',
        requestId: 'r',
        method: 'GET',
        route: '/plants',
        durationMs: 1.235,
        status: 200,
        user: 'the name of alice',
        traceparent: REQUEST.traceparent,
        trace_id: 'a'.repeat(32),
        span_id: 'b'.repeat(16),
      },
    ]);
  });

  it('leaves out what the request has not', () => {
    const line = { requestId: 'r', method: 'GET', status: 200 };
    expect(logged({ ...line, durationMs: 0 })).to.deep.equal([
      { level: 30, msg: 'request', ...line, durationMs: 0 },
    ]);
    expect(logged({ ...line, status: 503 })).to.deep.equal([
      { level: 30, msg: 'request', ...line, status: 503 },
    ]);
  });

  it('has a bug at each level, requests from info on, and probes and metrics from debug on', () => {
    expect(logged({ ...REQUEST, status: 500, error: new Error('a bug') }, 'error')[0]).to.include({
      level: 50,
    });
    expect(logged({ ...REQUEST, route: '/metrics' })).to.be.empty;
    named = 0;
    expect(logged(REQUEST, 'warn')).to.be.empty;
    expect(named, 'nothing is done for it').to.equal(0);
  });
});
