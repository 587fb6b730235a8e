import { expect } from 'chai';
import { readFileSync } from 'node:fs';
import { METHODS } from '../../../../src/adapters/http';
import { Metrics } from '../../../../src/adapters/metrics';
import { StoreUnavailable } from '../../../../src/event-sourcing';
import { created } from '../../../support/given';
import { RawSocket } from '../../../support/raw-socket';
import { END, HOST, LIST } from '../../../support/requests';
import { plantCodec } from '../../../../src/application';
import { ScriptedStore } from '../../../support/scripted-store';
import { until } from '../../../support/until';
import { TOKENS, type WatchedService, startWatched } from '../../../support/watched-service';

/** The metrics that a service has only with a store on Redis. */
function namesOfRedis(): string[] {
  const metrics = new Metrics({ methods: [], failureReasons: [], version: '' });
  // Without values, because they are not read.
  metrics.watch({} as never, () => ({ findings: {} }) as never);
  const names = metrics.descriptions.map(({ name }) => name);
  metrics.close();
  return names.filter((name) => name.startsWith('plant_store_redis_'));
}

describe('/metrics', () => {
  let service: WatchedService;

  beforeEach(async () => {
    service = await startWatched();
  });
  afterEach(() => service.stop());

  const headers = { Authorization: `Bearer ${TOKENS.alice}`, 'Content-Type': 'application/json' };

  async function create(id: number) {
    const body = JSON.stringify({ id, name: 'Fern' });
    await (await fetch(`${service.url}/plants`, { method: 'POST', headers, body })).text();
  }
  async function ask(path: string, method = 'GET') {
    await (await fetch(service.url + path, { method, headers })).text();
  }
  async function metrics(): Promise<string> {
    return (await fetch(`${service.url}/metrics`)).text();
  }
  /** The value of the series with this name and these labels. */
  async function valueOf(series: string): Promise<number | undefined> {
    const line = (await metrics()).split('\n').find((line) => line.startsWith(`${series} `));
    return line === undefined ? undefined : Number(line.slice(series.length + 1));
  }

  it('needs no token and has Prometheus’ text format', async () => {
    const answer = await fetch(`${service.url}/metrics`);
    expect(answer.status).to.equal(200);
    expect(answer.headers.get('content-type')).to.match(/^text\/plain; version=0\.0\.4/);
    for (const line of (await answer.text()).split('\n'))
      expect(line).to.match(/^(?:# (?:HELP|TYPE) \w+ .+|\w+(?:\{[^}]*\})? \S+|)$/);
  });

  it('counts requests and their durations by method, route and status', async () => {
    await create(1);
    const since = performance.now();
    await ask('/plants/7', 'DELETE');
    await ask('/plants/8', 'DELETE');
    const seconds = (performance.now() - since) / 1000;
    const series = (suffix: string, method: string, route: string, status: number, le = '') =>
      `http_request_duration_seconds_${suffix}{${le}method="${method}",route="${route}",status="${status}"}`;
    expect(await valueOf(series('count', 'POST', '/plants', 200))).to.equal(1);
    expect(await valueOf(series('count', 'DELETE', '/plants/:id', 404))).to.equal(2);
    expect(await valueOf(series('bucket', 'DELETE', '/plants/:id', 404, 'le="+Inf",'))).to.equal(2);
    expect(await valueOf(series('sum', 'DELETE', '/plants/:id', 404))).to.be.within(0, seconds);
  });

  it('labels served methods with their name, and all other methods as other', async () => {
    for (const method of [...METHODS, 'PUT']) await ask('/nowhere', method);
    const counted = [...(await metrics()).matchAll(/_duration_seconds_count\{method="(\w+)",route="none"/g)];
    expect(counted.map(([, method]) => method)).to.have.members([...METHODS, 'other']);
  });

  it('reports rounds, appends, the memory in use and the durations of store calls', async () => {
    await create(1);
    await create(2);
    await ask('/plants/1', 'DELETE');
    await ask('/plants');
    expect(await valueOf('plant_store_rounds_total')).to.equal(4);
    expect(await valueOf('plant_store_round_requests_count')).to.equal(4);
    expect(await valueOf('plant_store_round_requests_sum')).to.equal(4);
    expect(await valueOf('plant_store_round_trips_total')).to.equal(4);
    expect(await valueOf('plant_store_appended_events_total')).to.equal(3);
    expect(await valueOf('plant_store_collections')).to.equal(1);
    expect(await valueOf('plant_store_plants')).to.equal(1);
    const store = 'plant_store_event_store_duration_seconds_count';
    expect(await valueOf(`${store}{operation="append",outcome="appended"}`)).to.equal(3);
    expect(await valueOf(`${store}{operation="read",outcome="read"}`)).to.equal(1);
  });

  it('shows that simultaneous requests shared a round', async () => {
    const clients = await Promise.all(Array.from({ length: 20 }, () => RawSocket.open(service.url)));
    const askAll = () => Promise.all(clients.map((client) => client.send(LIST).answer()));
    // Node accepts one connection per turn.
    await askAll();
    const before = (await valueOf('plant_store_rounds_total'))!;
    for (const { status } of await askAll()) expect(status).to.equal(200);
    // A turn of the event loop starts 16 requests at most.
    expect((await valueOf('plant_store_rounds_total'))! - before).to.be.within(1, 3);
    for (const client of clients) client.reset();
  });

  it('reports open connections, the event loop and the process', async () => {
    await metrics();
    const clients = await Promise.all(Array.from({ length: 10 }, () => RawSocket.open(service.url)));
    await until(async () => (await valueOf('http_connections'))! > 10);
    for (const client of clients) client.reset();
    await until(async () => (await valueOf('http_connections'))! <= 10);
    const all = await metrics();
    for (const name of ['nodejs_eventloop_lag_p99_seconds', 'process_resident_memory_bytes'])
      expect(all).to.match(new RegExp(`^${name} [0-9.e+-]+$`, 'm'));
  });

  it('counts the connections that are refused, by reason', async () => {
    // No list is answered, so pipelined requests are queued.
    const limited = await startWatched(
      { MAX_CONNECTIONS: '2' },
      { eventStore: new ScriptedStore(plantCodec) },
    );
    try {
      const refused = async () => {
        const text = await (await fetch(`${limited.url}/metrics`)).text();
        return [...text.matchAll(/^http_refused_connections_total\{reason="\w+"\} (\d+)$/gm)].map(
          ([, n]) => n,
        );
      };
      // The connection of fetch is kept open.
      expect(await refused()).to.deep.equal(['0', '0']);
      const client = await RawSocket.open(limited.url);
      await (await RawSocket.open(limited.url)).ended();
      await client.send(LIST.repeat(1100)).ended();
      expect(await refused()).to.deep.equal(['1', '1']);
    } finally {
      await limited.stop();
    }
  });

  it('is documented, each metric but those of the process', async () => {
    const page = readFileSync('docs/operations.md', 'utf8');
    const names = [...(await metrics()).matchAll(/^# TYPE (\w+)/gm)].map(([, name]) => name!);
    expect(names).to.have.length.greaterThan(50);
    const ofRedis = namesOfRedis();
    expect(ofRedis).to.have.length.greaterThan(5);
    for (const name of [...names, ...ofRedis])
      if (!/^(?:process|nodejs)_/.test(name)) expect(page).to.contain(`| \`${name}\` |`);
  });

  it('reports whether the service is ready, and the limit of connections', async () => {
    expect(await valueOf('plant_store_ready')).to.equal(1);
    expect(await valueOf('http_connections_limit')).to.equal(4096);
    const stopped = service.stop(500);
    expect(await valueOf('plant_store_ready')).to.equal(0);
    await stopped;
  });

  it('contains no user data, and has no new series after unusual requests', async () => {
    await ask('/plants');
    await metrics();
    const series = async () =>
      new Set((await metrics()).match(/^http_request_duration_seconds_count\{.*\}/gm)).size;
    await ask('/nowhere');
    const before = await series();
    for (const path of ['/Canary7', '/plants%2fCanary7', '/health/Canary7']) await ask(path);
    const client = await RawSocket.open(service.url);
    for (const method of ['PROPFIND', 'LINK', 'PURGE'])
      await client.send(`${method} /Canary7 HTTP/1.1\r\n${HOST}${END}`).answer(method);
    client.reset();
    // The 404s have one series already. The response to an unknown method may add one.
    expect(await series()).to.be.at.most(before + 1);
    const all = await metrics();
    for (const secret of ['alice', 'Canary7', 'PROPFIND', TOKENS.alice]) expect(all).not.to.contain(secret);
  });
});

describe('/metrics of a service whose store is slow', () => {
  it('has the loads in progress and those that wait', async () => {
    const users = ['a', 'b', 'c', 'd', 'e', 'f'];
    const AUTH_TOKENS = users.map((user) => `${user}:token-of-${user}`).join();
    const store = new ScriptedStore(plantCodec);
    const service = await startWatched({ AUTH_TOKENS }, { eventStore: store });
    const lists = users.map((user) =>
      fetch(`${service.url}/plants`, { headers: { Authorization: `Bearer token-of-${user}` } }),
    );
    const loads = async () => {
      const all = await (await fetch(`${service.url}/metrics`)).text();
      return [...all.matchAll(/^plant_store_loads_\w+ (\d+)$/gm)].map(([, count]) => Number(count));
    };
    await until(async () => (await loads()).join() === '4,2');
    store.held = false;
    for (const call of [...store.calls]) await call.answer();
    for (const list of lists) expect((await list).status).to.equal(200);
    expect(await loads()).to.deep.equal([0, 0]);
    await service.stop();
  });
});

describe('/metrics of a service whose store fails', () => {
  it('reports the kind of each fault, conflicts and lost histories', async () => {
    const store = new ScriptedStore(plantCodec);
    store.held = false;
    const service = await startWatched({}, { eventStore: store });
    try {
      const headers = { Authorization: `Bearer ${TOKENS.alice}`, 'Content-Type': 'application/json' };
      const create = async (id: number) => {
        const body = JSON.stringify({ id, name: 'Fern' });
        return (await fetch(`${service.url}/plants`, { method: 'POST', headers, body })).status;
      };
      await create(1);
      await store.record('plants/alice', created(7, 'Ivy'));
      await create(3);
      await store.loseTail('plants/alice', 0);
      await create(1);
      store.held = true;
      const failing = create(2);
      await until(() => store.calls.length === 1);
      await store.sole.fail(new StoreUnavailable('away'));
      expect(await failing).to.equal(503);
      store.held = false;

      const all = await (await fetch(`${service.url}/metrics`)).text();
      expect(all).to.match(/^plant_store_lost_histories_total 1$/m);
      expect(all).to.match(/^http_request_failures_total\{reason="store"\} 1$/m);
      expect(all).to.match(/^http_request_failures_total\{reason="bug"\} 0$/m);
      expect(all).to.match(/^plant_store_conflicts_total 1$/m);
      expect(all).to.match(/^plant_store_faults_total\{kind="unavailable"\} 1$/m);
      expect(all).to.match(/^plant_store_faults_total\{kind="bug"\} 0$/m);
      expect(all).to.match(
        /^plant_store_event_store_duration_seconds_count\{operation="append",outcome="unavailable"\} 1$/m,
      );
    } finally {
      await service.stop();
    }
  });
});
