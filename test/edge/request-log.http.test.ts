import { createHash } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'chai';
import { StoreUnavailable } from '../../src/application';
import { RawSocket } from '../support/raw-socket';
import { AUTH, HOST, JSON_TYPE } from '../support/requests';
import { ScriptedStore } from '../support/scripted-store';
import { until } from '../support/until';
import { TOKENS, type WatchedService, startWatched } from '../support/watched-service';

const TRACE = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';
const INFO = 30;
const WARN = 40;

describe('The log', () => {
  let service: WatchedService;

  afterEach(() => service.stop());

  async function ask(path: string, fields: Readonly<Record<string, string>> = {}, method = 'GET') {
    const headers = { Authorization: `Bearer ${TOKENS.alice}`, ...fields };
    await (await fetch(service.url + path, { method, headers })).text();
    return linesOf(service);
  }

  it('has one line a request: its id, method, route, status, duration and a hash of the user', async () => {
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
      user,
    });
    expect(line!.durationMs).to.be.a('number').that.is.within(0, took);
  });

  it('has a line also where the body turned out malformed while it was read', async () => {
    service = await startWatched();
    const client = await RawSocket.open(service.url);
    client.send(
      `POST /plants HTTP/1.1\r\n${HOST}${AUTH}${JSON_TYPE}Transfer-Encoding: chunked\r\n\r\n2\r\n{"\r\n`,
    );
    await pause(50);
    expect((await client.send('no chunk\r\n').answer()).status).to.equal(400);
    client.vanish();
    await until(() => linesOf(service).length > 0);
    expect(linesOf(service)).to.have.length(1);
    expect(linesOf(service)[0]).to.include({ status: 400, route: '/plants' });
  });

  it('names the route, and never the path, nor who is unknown', async () => {
    service = await startWatched();
    for (const path of ['/plants?limit=1', '/health/live', '/nowhere']) await ask(path);
    await ask('/plants', { Authorization: 'Bearer another' });
    const lines = linesOf(service);
    expect(lines.map(({ route }) => route)).to.deep.equal(['/plants', '/health/live', undefined, undefined]);
    expect(lines.map(({ user }) => user !== undefined)).to.deep.equal([true, false, false, false]);
  });

  it('has the traceparent of a request that bears a well-formed one', async () => {
    service = await startWatched();
    const others = [
      TRACE.toUpperCase(),
      `${TRACE}-01`,
      TRACE.slice(1),
      TRACE.replace('00-', 'ff-'),
      TRACE.replace('4bf92f3577b34da6a3ce929d0e0e4736', '0'.repeat(32)),
    ];
    for (const traceparent of [TRACE, ...others]) await ask('/plants', { traceparent });
    expect(linesOf(service).map(({ traceparent }) => traceparent)).to.deep.equal([
      TRACE,
      ...others.map(() => undefined),
    ]);
  });

  it('tells of a failure with all that led to it, and of what is nobody’s fault as a warning', async () => {
    const store = new ScriptedStore();
    service = await startWatched({}, { eventStore: store });
    const asked = ask('/plants');
    await until(() => store.calls.length === 1);
    await store.sole.fail(new StoreUnavailable('away', { cause: new Error('the cable is out') }));
    const [line] = await asked;
    expect(line).to.include({ level: WARN, status: 503, route: '/plants' });
    expect(line!.err).to.have.property('type', 'StoreUnavailable');
    expect(line!.err).to.have.property('message', 'away: the cable is out');
    expect(line!.err).to.have.property('stack').that.contains('caused by: Error: the cable is out');
  });
});

function linesOf({ log }: WatchedService) {
  return log
    .map((line) => JSON.parse(line) as Record<string, unknown>)
    .filter(({ msg }) => msg === 'request');
}
