/** What operators see: /metrics, and the admin port. */
import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { METHODS } from '../../../src/adapters/http';
import { HttpClient, exchange } from '../../support/client';
import { metricOf, metricsOf } from '../../support/metrics';
import { RawSocket } from '../../support/raw-socket';
import { END, HOST, LIST } from '../../support/requests';
import { served } from '../../support/served';
import { until } from '../../support/until';

const LIVE = `GET /health/live HTTP/1.1\r\n${HOST}${END}`;
const METRICS = `GET /metrics HTTP/1.1\r\n${HOST}${END}`;
const DURATIONS = 'http_request_duration_seconds_count';

describe('/metrics', () => {
  const edge = served();

  const client = () => new HttpClient(edge().service.url);
  const text = async () => (await exchange(edge().service.url, { path: '/metrics' })).text;

  it('needs no token, describes each metric, and contains all metrics of docs/operations.md', async () => {
    const all = await text();
    const names = [...all.matchAll(/^# HELP (\w+) .+\n# TYPE \1 /gm)].map(([, name]) => name);
    expect(names).to.have.length(all.match(/^# TYPE /gm)!.length);
    expect(names).to.include.members([
      'nodejs_eventloop_lag_p99_seconds',
      'process_resident_memory_bytes',
    ]);
    const page = readFileSync('docs/operations.md', 'utf8');
    const named = [...page.matchAll(/`((?:http|plant_store)_(?!redis)\w+)/g)].map(
      ([, name]) => name,
    );
    expect(names).to.include.members(named);
  });

  it('contains a bounded number of series and no user data: unknown methods and paths share a label', async () => {
    for (const method of [...METHODS, 'PUT', 'PROPFIND', 'LINK'])
      await client().send({ method, path: '/Canary7' });
    for (const path of ['/plants%2fCanary7', '/health/Canary7']) await client().get(path);
    const all = await text();
    const counted = [...all.matchAll(/_duration_seconds_count\{method="(\w+)",route="none"/g)];
    expect(counted.map(([, method]) => method)).to.have.members([...METHODS, 'other']);
    for (const secret of ['Canary7', 'PROPFIND', 'token-of-a']) expect(all).not.to.contain(secret);
  });
});

describe('The admin port', () => {
  const edge = served({ ADMIN_PORT: '0', MAX_CONNECTIONS: '2', STORE_TIMEOUT_MS: '60000' });

  const statusOf = async (url: string) =>
    (await fetch(url, { headers: { Connection: 'close' } })).status;
  const statuses = async (url: string) => {
    const found = [];
    for (const path of [
      '/health/live',
      '/health/ready',
      '/metrics',
      '/',
      '/plants',
      '/openapi.json',
    ])
      found.push(await statusOf(url + path));
    return found;
  };

  it('serves only health and metrics, and the public port serves health, but no metrics', async () => {
    const { url, adminUrl } = edge().service;
    expect(await statuses(adminUrl!)).to.deep.equal([200, 200, 200, 404, 404, 404]);
    expect(await statuses(url)).to.deep.equal([200, 200, 404, 200, 401, 200]);
    const document = (await (await fetch(`${url}/openapi.json`)).json()) as { paths: object };
    expect(document.paths).to.include.keys('/health/ready').and.not.to.have.any.keys('/metrics');
    const allows = [];
    for (const path of [`${adminUrl}/metrics`, `${adminUrl}/plants`, `${url}/metrics`])
      allows.push((await fetch(path, { method: 'FLOURISH' })).headers.get('allow'));
    expect(allows).to.deep.equal(['GET, HEAD, OPTIONS', null, null]);
  });

  it('answers even if all public connections are in use, and its requests are counted and logged', async () => {
    const { url, adminUrl, log } = edge().service;
    const clients = [await edge().send(LIST), await edge().send(LIST)];
    for (const client of clients) await client.answer();
    expect(await statusOf(`${adminUrl}/health/live`)).to.equal(200);
    const value = await metricsOf(adminUrl!);
    expect(value('http_connections')).to.equal(2);
    expect(value(`${DURATIONS}{method="GET",route="/health/live",status="200"}`)).to.equal(1);
    expect(log.join('')).to.match(/"level":20.*"route":"\/health\/live"/);

    // Refused are connections beyond their number, and one with too many requests.
    edge().store.delayMs = Infinity;
    for (const client of clients) client.send(LIST);
    // The service reads both requests before it answers this.
    expect(await statusOf(`${adminUrl}/health/live`)).to.equal(200);
    await (await RawSocket.open(url)).ended();
    await clients[0]!.send(LIST.repeat(1100)).ended();
    expect(await metricOf(adminUrl!, 'http_refused_connections_total')).to.equal(2);
  });

  for (const [what, bytes, rest] of [
    ['idle after a response', LIVE, LIVE],
    ['sending a request slowly', LIVE.slice(0, -2), END],
    ['waiting for a response that they do not read', METRICS.repeat(500), ''],
  ] as const)
    it(`closes its oldest connection for a new one if all 32 are ${what}`, async () => {
      const admin = edge().service.adminUrl!;
      const taken: RawSocket[] = [];
      while (taken.length < 32) {
        const client = await RawSocket.open(admin);
        if (rest === '') client.socket.pause();
        taken.push(client.send(bytes));
        if (bytes === LIVE) await client.answer();
        // The server is busy with it.
        if (rest === '') await until(() => client.socket.readableLength > 0);
      }
      for (let times = 0; times < 3; times++)
        expect(await statusOf(`${admin}/health/live`)).to.equal(200);
      taken[0]!.socket.resume();
      await taken[0]!.ended();
      if (rest !== '') expect((await taken.at(-1)!.send(rest).answer()).status).to.equal(200);
      for (const client of taken) client.reset();
    });

  it('answers readiness with 503 during the drain, as the public port does, and closes afterwards', async () => {
    const { service, store } = edge();
    store.delayMs = Infinity;
    const client = await edge().send(LIST);
    await until(() => store.trips > 0);
    const probe = await RawSocket.open(service.url);
    const stopped = service.stop(300);
    expect((await probe.send(LIVE.replace('live', 'ready')).answer()).status).to.equal(503);
    expect((await statuses(service.adminUrl!)).slice(0, 3)).to.deep.equal([200, 503, 200]);
    expect(await metricOf(service.adminUrl!, 'plant_store_ready')).to.equal(0);
    store.delayMs = 0;
    expect((await client.answer()).status).to.equal(200);
    expect(await stopped).to.equal(true);
    expect(await statusOf(service.adminUrl!).catch(() => 'closed')).to.equal('closed');
  });
});
