import type { PlantEvent } from '../../../../src/domain';
import { createHash } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'chai';
import { MemoryEventStore } from '../../../../src/adapters/memory/event-store';
import { type EventStore, StoreUnavailable } from '../../../../src/event-sourcing';
import { RawSocket } from '../../../support/raw-socket';
import { AUTH, HOST, JSON_TYPE } from '../../../support/requests';
import { until } from '../../../support/until';
import { TOKENS, type WatchedService, startWatched } from '../../../support/watched-service';

const TRACE = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';
const DEBUG = 20;
const INFO = 30;
const WARN = 40;
const ERROR = 50;

describe('The log', () => {
  let service: WatchedService;

  afterEach(() => service.stop());

  async function ask(path: string, fields: Readonly<Record<string, string>> = {}, method = 'GET') {
    const headers = { Authorization: `Bearer ${TOKENS.alice}`, ...fields };
    await (await fetch(service.url + path, { method, headers })).text();
    return linesOf(service);
  }

  it('has one line per request: id, method, route, status, duration and a hash of the user', async () => {
    service = await startWatched();
    const since = performance.now();
    const [line, ...others] = await ask('/plants/17', { 'X-Request-Id': 'mine' }, 'DELETE');
    const took = performance.now() - since;
    expect(others).to.deep.equal([]);
    const user = createHash('sha256').update('alice').digest('hex').slice(0, 12);
    expect(line).to.deep.include({
      level: INFO,
      requestId: 'mine',
      method: 'DELETE',
      route: '/plants/:id',
      status: 404,
      error: 40401,
      user,
    });
    expect(line!.durationMs).to.be.a('number').that.is.within(0, took);
  });

  it('has a line for a request whose body turned out malformed while it was read', async () => {
    service = await startWatched();
    const client = await RawSocket.open(service.url);
    client.send(
      `POST /plants HTTP/1.1\r\n${HOST}${AUTH}${JSON_TYPE}Transfer-Encoding: chunked\r\n\r\n2\r\n{"\r\n`,
    );
    await pause(50);
    expect((await client.send('no chunk\r\n').answer()).status).to.equal(400);
    client.reset();
    await until(() => linesOf(service).length > 0);
    expect(linesOf(service)).to.have.length(1);
    expect(linesOf(service)[0]).to.include({ status: 400, route: '/plants', error: 40000 });
  });

  it('names the route but never the path, and no unknown user', async () => {
    service = await startWatched();
    for (const path of ['/plants?limit=1', '/health/live', '/nowhere']) await ask(path);
    await ask('/plants', { Authorization: 'Bearer another' });
    const lines = linesOf(service);
    expect(lines.map(({ route }) => route)).to.deep.equal(['/plants', '/health/live', undefined, undefined]);
    expect(lines.map(({ user }) => user !== undefined)).to.deep.equal([true, false, false, false]);
  });

  it('has the error number of each request that fails, and the reason of a 401', async () => {
    service = await startWatched();
    await ask('/plants', { Authorization: 'Basic YTpi' });
    await ask('/plants', { Authorization: 'Bearer  ' });
    await ask('/plants', { Authorization: 'Bearer another' });
    await ask('/plants', {}, 'PUT');
    await ask('/plants?limit=x');
    const client = await RawSocket.open(service.url);
    await client.send('no HTTP\r\n\r\n').answer();
    const told = linesOf(service).map(({ status, error, reason }) => [status, error, reason]);
    expect(told).to.deep.equal([
      [401, 40100, 'no_token'],
      [401, 40101, 'token_malformed'],
      [401, 40101, 'token_unknown'],
      [405, 40500, undefined],
      [400, 40004, undefined],
      [400, 40000, undefined],
    ]);
    expect(service.log.join('')).not.to.contain('another');
  });

  it('has requests for health and metrics at level debug', async () => {
    service = await startWatched();
    for (const path of ['/health/live', '/health/ready', '/metrics', '/']) await ask(path);
    expect(linesOf(service).map(({ level }) => level)).to.deep.equal([DEBUG, DEBUG, DEBUG, INFO]);
  });

  it('has traceparent, trace_id and span_id of a request with a well-formed traceparent', async () => {
    service = await startWatched();
    const others = [
      TRACE.toUpperCase(),
      `${TRACE}-01`,
      TRACE.slice(1),
      TRACE.replace('00-', 'ff-'),
      TRACE.replace('4bf92f3577b34da6a3ce929d0e0e4736', '0'.repeat(32)),
    ];
    for (const traceparent of [TRACE, ...others]) await ask('/plants', { traceparent });
    const [line, ...rest] = linesOf(service);
    expect(line).to.include({
      traceparent: TRACE,
      trace_id: '4bf92f3577b34da6a3ce929d0e0e4736',
      span_id: '00f067aa0ba902b7',
    });
    expect(rest).to.have.length(others.length);
    for (const each of rest) expect(each).not.to.have.any.keys('traceparent', 'trace_id', 'span_id');
  });

  it('has a bug at level error, with its stack and causes', async () => {
    service = await startWatched(
      {},
      { eventStore: failing(new TypeError('odd', { cause: new Error('the cable') })) },
    );
    const [line] = await ask('/plants');
    expect(line).to.include({ level: ERROR, status: 500, route: '/plants', error: 50000, reason: 'bug' });
    expect(line!.err).to.include({ type: 'TypeError', message: 'odd: the cable' });
    expect(line!.err).to.have.property('stack').that.contains('caused by: Error: the cable');
  });

  it('has a 503 at level warn, with its error number, reason and cause, and without a stack', async () => {
    const away = new StoreUnavailable('away', { cause: new Error('the cable is out') });
    service = await startWatched({}, { eventStore: failing(away) });
    const [line] = await ask('/plants');
    expect(line).to.include({
      level: WARN,
      status: 503,
      route: '/plants',
      error: 50300,
      reason: 'store',
      cause: 'StoreUnavailable: away: the cable is out',
    });
    expect(line).not.to.have.property('err');
  });

  it('has a line for each of many 503s, of which those at level warn are few and count all', async () => {
    service = await startWatched({}, { eventStore: failing(new StoreUnavailable('away')) });
    for (let request = 0; request < 20; request++) await ask('/plants');
    await service.stop();
    const warnings = service.log.filter((line) => (JSON.parse(line) as { level: number }).level >= WARN);
    const all = warnings.map((line) => JSON.parse(line) as Record<string, unknown>);
    const counted = all.reduce((sum, { failures = 1 }) => sum + Number(failures), 0);
    expect(counted).to.equal(20);
    // Each second of the test may add a line.
    expect(all).to.have.length.below(10);
    expect(all.at(-1)).to.include({ msg: 'more requests failed', status: 503 });
    const lines = linesOf(service);
    expect(lines).to.have.length(20);
    for (const line of lines) {
      expect(line).to.include({ error: 50300, reason: 'store', cause: 'StoreUnavailable: away' });
      expect(line['level']).to.be.at.least(INFO);
    }
  });
});

/** A store whose reads fail with this error. */
function failing(error: Error): EventStore<PlantEvent> {
  return Object.assign(new MemoryEventStore<PlantEvent>(), { read: () => Promise.reject(error) });
}

function linesOf({ log }: WatchedService) {
  return log
    .map((line) => JSON.parse(line) as Record<string, unknown>)
    .filter(({ msg }) => msg === 'request');
}
