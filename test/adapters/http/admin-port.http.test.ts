import { expect } from 'chai';
import { readConfig } from '../../../src/service/config';
import { RawSocket } from '../../support/raw-socket';
import { END, HOST, LIST } from '../../support/requests';
import { ScriptedStore } from '../../support/scripted-store';
import { TOKENS, type WatchedService, startWatched } from '../../support/watched-service';

describe('The admin port', () => {
  let service: WatchedService;
  let store: ScriptedStore;

  beforeEach(async () => {
    store = new ScriptedStore();
    store.held = false;
    service = await startWatched({ ADMIN_PORT: '0', MAX_CONNECTIONS: '2' }, { eventStore: store });
  });
  afterEach(() => service.stop());

  const statusOf = async (url: string) => (await fetch(url, { headers: { Connection: 'close' } })).status;
  const statuses = (base: string) =>
    Promise.all(
      ['/health/live', '/health/ready', '/metrics', '/', '/plants', '/openapi.json'].map((path) =>
        statusOf(base + path),
      ),
    );

  it('serves health and metrics, and nothing else', async () => {
    expect(await statuses(service.adminUrl!)).to.deep.equal([200, 200, 200, 404, 404, 404]);
  });

  it('takes the metrics from the public port, which keeps health for its proxy', async () => {
    const found = [];
    for (const path of ['/health/live', '/health/ready', '/metrics'])
      found.push(await statusOf(service.url + path));
    expect(found).to.deep.equal([200, 200, 404]);
    const document = (await (await fetch(`${service.url}/openapi.json`)).json()) as { paths: object };
    expect(document.paths).to.have.property('/health/ready');
    expect(document.paths).not.to.have.property('/metrics');
  });

  it('is not there without ADMIN_PORT, and then the public port has the metrics', async () => {
    const other = await startWatched();
    expect(other.adminUrl).to.equal(undefined);
    expect(await statusOf(`${other.url}/metrics`)).to.equal(200);
    await other.stop();
  });

  it('answers if clients have all connections of the public port', async () => {
    const clients = [await RawSocket.open(service.url), await RawSocket.open(service.url)];
    for (const client of clients) await client.send(LIST).answer();
    expect(await statusOf(`${service.adminUrl!}/health/live`)).to.equal(200);
    const metrics = await (await fetch(`${service.adminUrl!}/metrics`)).text();
    expect(metrics).to.match(/^http_connections 2$/m);
    for (const client of clients) client.reset();
  });

  for (const [what, bytes] of Object.entries({
    'idle after a response': `GET /health/live HTTP/1.1\r\n${HOST}${END}`,
    'idle without a request': '',
    'sending a request slowly': `GET /health/live HTTP/1.1\r\n${HOST}`,
  })) {
    it(`answers although its 32 connections are taken, the oldest of which it closes: ${what}`, async () => {
      const idle: RawSocket[] = [];
      while (idle.length < 32) {
        const client = await RawSocket.open(service.adminUrl!);
        idle.push(client.send(bytes));
        if (bytes.endsWith(END + END)) await client.answer();
      }
      for (let times = 0; times < 3; times++)
        expect(await statusOf(`${service.adminUrl!}/health/live`)).to.equal(200);
      await idle[0]!.ended();
      const last = idle
        .at(-1)!
        .send(bytes === '' ? `GET /health/live HTTP/1.1\r\n${HOST}${END}` : bytes.slice(-2));
      if (what === 'idle without a request') expect((await last.answer()).status).to.equal(200);
      for (const client of idle) client.reset();
    });
  }

  it('answers although its 32 connections all have a pending response', async () => {
    store.held = true;
    const busy: RawSocket[] = [];
    while (busy.length < 32) {
      const client = await RawSocket.open(service.adminUrl!);
      client.socket.pause();
      busy.push(client.send(`GET /metrics HTTP/1.1\r\n${HOST}${END}`.repeat(500)));
    }
    expect(await statusOf(`${service.adminUrl!}/health/live`)).to.equal(200);
    for (const client of busy) client.reset();
  });

  it('counts and logs its requests like those of the public port', async () => {
    await statusOf(`${service.adminUrl!}/health/live`);
    const metrics = await (await fetch(`${service.adminUrl!}/metrics`)).text();
    expect(metrics).to.match(/_count\{method="GET",route="\/health\/live",status="200"\} 1/);
    expect(service.log.join('')).to.match(/"level":20.*"route":"\/health\/live"/);
  });

  it('fails readiness on both ports during the drain, and closes after the last response', async () => {
    const client = await RawSocket.open(service.url);
    store.held = true;
    client.send(LIST);
    while (store.calls.length === 0) await new Promise((resolve) => setImmediate(resolve));
    const probe = await RawSocket.open(service.url);
    const stopped = service.stop(300);
    probe.send(`GET /health/ready HTTP/1.1\r\n${HOST}${END}`);
    expect((await probe.answer()).status).to.equal(503);
    expect(await statusOf(`${service.adminUrl!}/health/ready`)).to.equal(503);
    expect(await statusOf(`${service.adminUrl!}/health/live`)).to.equal(200);
    expect(await (await fetch(`${service.adminUrl!}/metrics`)).text()).to.match(/^plant_store_ready 0$/m);

    await store.sole.answer();
    expect((await client.answer()).status).to.equal(200);
    expect(await stopped).to.equal(true);
    expect(await statusOf(service.adminUrl!).catch(() => 'closed')).to.equal('closed');
  });

  it('must differ from PORT', () => {
    const environment = { PORT: '3000', ADMIN_PORT: '3000', AUTH_TOKENS: `alice:${TOKENS.alice}` };
    expect(readConfig(environment).problems).to.deep.equal([
      { variable: 'ADMIN_PORT', rule: 'must differ from PORT', fix: 'set it to another port, or unset it' },
    ]);
  });
});
