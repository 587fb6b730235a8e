import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { METHODS } from '../../../src/adapters/http';
import { plantCodec } from '../../../src/application';
import type { PlantEvent } from '../../../src/domain';
import { StoreUnavailable } from '../../../src/event-sourcing';
import { created } from '../../support/given';
import { metricOf, metricsOf } from '../../support/metrics';
import { RawSocket } from '../../support/raw-socket';
import { END, HOST, LIST } from '../../support/requests';
import { ScriptedStore } from '../../support/scripted-store';
import { until } from '../../support/until';
import { TOKENS, type WatchedService, startWatched } from '../../support/watched-service';

const USERS = ['a', 'b', 'c', 'd', 'e', 'f'];

describe('/metrics', () => {
  let service: WatchedService;
  let store: ScriptedStore<PlantEvent>;
  const environment = {
    AUTH_TOKENS: USERS.map((user) => `${user}:token-of-${user}`).join(),
  };

  beforeEach(async () => {
    store = new ScriptedStore(plantCodec);
    store.held = false;
    service = await startWatched(environment, { eventStore: store });
  });
  afterEach(() => service.stop());

  const text = async () => (await fetch(`${service.url}/metrics`)).text();
  const valueOf = (series: string) => metricOf(service.url, series);
  async function ask(path: string, method = 'GET', body?: object, user = 'a'): Promise<number> {
    const headers = { Authorization: `Bearer token-of-${user}`, 'Content-Type': 'application/json' };
    const answer = await fetch(service.url + path, {
      method,
      headers,
      ...(body && { body: JSON.stringify(body) }),
    });
    await answer.text();
    return answer.status;
  }
  const create = (id: number) => ask('/plants', 'POST', { id, name: 'Fern' });

  it('needs no token, has Prometheus’ text format, and is documented, each metric but those of the process', async () => {
    const answer = await fetch(`${service.url}/metrics`);
    expect(answer.headers.get('content-type')).to.match(/^text\/plain; version=0\.0\.4/);
    const all = await answer.text();
    for (const line of all.split('\n'))
      expect(line).to.match(/^(?:# (?:HELP|TYPE) \w+ .+|\w+(?:\{[^}]*\})? \S+|)$/);
    const page = readFileSync('docs/operations.md', 'utf8');
    const names = [...all.matchAll(/^# TYPE (\w+)/gm)].map(([, name]) => name!);
    expect(names).to.include.members(['nodejs_eventloop_lag_p99_seconds', 'process_resident_memory_bytes']);
    for (const name of names)
      if (!/^(?:process|nodejs)_/.test(name)) expect(page).to.contain(`| \`${name}\` |`);
  });

  it('counts requests and their durations by method, route and status', async () => {
    await create(1);
    const since = performance.now();
    for (const id of [7, 8]) await ask(`/plants/${id}`, 'DELETE');
    const seconds = (performance.now() - since) / 1000;
    const series = (suffix: string, method: string, route: string, status: number, le = '') =>
      `http_request_duration_seconds_${suffix}{${le}method="${method}",route="${route}",status="${status}"}`;
    expect(await valueOf(series('count', 'POST', '/plants', 200))).to.equal(1);
    expect(await valueOf(series('count', 'DELETE', '/plants/:id', 404))).to.equal(2);
    expect(await valueOf(series('bucket', 'DELETE', '/plants/:id', 404, 'le="+Inf",'))).to.equal(2);
    expect(await valueOf(series('sum', 'DELETE', '/plants/:id', 404))).to.be.within(0, seconds);
  });

  it('has a bounded number of series, and no data of users: unknown methods and paths have one label', async () => {
    for (const method of [...METHODS, 'PUT']) await ask('/nowhere', method);
    const client = await RawSocket.open(service.url);
    for (const method of ['PROPFIND', 'LINK', 'PURGE'])
      await client.send(`${method} /Canary7 HTTP/1.1\r\n${HOST}${END}`).answer();
    client.reset();
    for (const path of ['/Canary7', '/plants%2fCanary7', '/health/Canary7']) await ask(path);
    const all = await text();
    const counted = [...all.matchAll(/_duration_seconds_count\{method="(\w+)",route="none"/g)];
    expect(counted.map(([, method]) => method)).to.have.members([...METHODS, 'other']);
    for (const secret of ['Canary7', 'PROPFIND', 'token-of-a']) expect(all).not.to.contain(secret);
  });

  it('reports rounds, appends, the memory in use and the durations of store calls', async () => {
    await create(1);
    await create(2);
    await ask('/plants/1', 'DELETE');
    await ask('/plants');
    const value = await metricsOf(service.url);
    const store = 'plant_store_event_store_duration_seconds_count';
    for (const [series, expected] of Object.entries({
      plant_store_round_requests_count: 4,
      plant_store_round_requests_sum: 4,
      plant_store_round_trips_total: 4,
      plant_store_appended_events_total: 3,
      plant_store_cache_streams: 1,
      [`${store}{operation="append",outcome="appended"}`]: 3,
      [`${store}{operation="read",outcome="read"}`]: 1,
    }))
      expect(value(series), series).to.equal(expected);
  });

  it('shows that simultaneous requests shared a round', async () => {
    const clients = await Promise.all(Array.from({ length: 20 }, () => RawSocket.open(service.url)));
    const list = LIST.replace(TOKENS.alice, 'token-of-a');
    const askAll = () => Promise.all(clients.map((client) => client.send(list).answer()));
    // Node accepts one connection per turn.
    await askAll();
    const before = await valueOf('plant_store_round_requests_count');
    for (const { status } of await askAll()) expect(status).to.equal(200);
    // A turn of the event loop starts 16 requests at most.
    expect((await valueOf('plant_store_round_requests_count')) - before).to.be.within(1, 3);
    for (const client of clients) client.reset();
  });

  it('reports open connections, their limit, and whether the service is ready', async () => {
    await text();
    const clients = await Promise.all(Array.from({ length: 10 }, () => RawSocket.open(service.url)));
    await until(async () => (await valueOf('http_connections')) > 10);
    for (const client of clients) client.reset();
    await until(async () => (await valueOf('http_connections')) <= 10);
    expect(await valueOf('http_connections_limit')).to.equal(4096);
    expect(await valueOf('plant_store_ready')).to.equal(1);
    const stopped = service.stop(500);
    expect(await valueOf('plant_store_ready')).to.equal(0);
    await stopped;
  });

  it('counts the connections that are refused, beyond their number or that of their requests', async () => {
    store.held = true;
    await service.stop();
    service = await startWatched({ MAX_CONNECTIONS: '2' }, { eventStore: store });
    const refused = () => valueOf('http_refused_connections_total');
    // The connection of fetch is kept open.
    expect(await refused()).to.equal(0);
    const client = await RawSocket.open(service.url);
    await (await RawSocket.open(service.url)).ended();
    // They wait for the list.
    await client.send(LIST.repeat(1100)).ended();
    expect(await refused()).to.equal(2);
  });

  it('has the loads that wait', async () => {
    store.held = true;
    const lists = USERS.map((user) => ask('/plants', 'GET', undefined, user));
    const loads = async () =>
      [...(await text()).matchAll(/^plant_store_loads_\w+ (\d+)$/gm)].map(([, count]) => Number(count));
    await until(async () => (await loads()).join() === '2');
    store.held = false;
    for (const call of [...store.calls]) await call.answer();
    for (const list of lists) expect(await list).to.equal(200);
    expect(await loads()).to.deep.equal([0]);
  });

  it('reports the kind of each fault, conflicts and lost histories', async () => {
    await create(1);
    await store.record('plants/a', created(7, 'Ivy'));
    await create(3);
    await store.loseTail('plants/a', 0);
    await create(1);
    store.held = true;
    const failing = create(2);
    await until(() => store.calls.length === 1);
    await store.sole.fail(new StoreUnavailable('away'));
    expect(await failing).to.equal(503);
    store.held = false;
    const value = await metricsOf(service.url);
    for (const [series, expected] of Object.entries({
      plant_store_lost_histories_total: 1,
      'http_request_failures_total{reason="store"}': 1,
      'http_request_failures_total{reason="bug"}': 0,
      plant_store_conflicts_total: 1,
      'plant_store_faults_total{kind="unavailable"}': 1,
      'plant_store_faults_total{kind="bug"}': 0,
      'plant_store_event_store_duration_seconds_count{operation="append",outcome="unavailable"}': 1,
    }))
      expect(value(series), series).to.equal(expected);
  });
});
