/** What changes each metric, and by how much. */
import { once } from 'node:events';
import { connect } from 'node:net';
import { writeFileSync } from 'node:fs';
import { expect } from 'chai';
import {
  BEGINNING,
  type OpenEventStore,
  OutcomeUnknown,
  UnreadableHistory,
} from '../../src/event-sourcing';
import { standardOutput } from '../../src/service/log-destination';
import { packageVersion } from '../../src/service/version';
import { HttpClient } from '../support/client';
import { created, encoded, plantStreamOf } from '../support/given';
import { AWAY, MemorySnapshots } from '../support/memory-snapshots';
import { metricsOf } from '../support/metrics';
import { RawSocket } from '../support/raw-socket';
import { LIST } from '../support/requests';
import { SlowStore } from '../support/served';
import { temporaryDirectory } from '../support/temporary-directory';
import { tokenFileOf, tokenOf } from '../support/token';
import { until } from '../support/until';
import { type WatchedService, startWatched } from '../support/watched-service';

/** Each reply of the store takes at least this. */
const SLOW_MS = 60;
const MIB = 2 ** 20;
const USERS = ['alice', 'bob', 'carol', 'dave', 'eve', 'frank'];

describe('The metric', () => {
  const path = temporaryDirectory();
  let store: SlowStore;
  let opened: { -readonly [member in keyof OpenEventStore]: OpenEventStore[member] };
  let snapshots: MemorySnapshots;
  let service: WatchedService;
  let ends: (() => unknown)[];

  beforeEach(async () => {
    store = new SlowStore(2);
    snapshots = new MemorySnapshots();
    const able = { reads: true, writes: true };
    const status = () => ({ ...able, id: 'odd', findings: { evicts: true, replica: false } });
    opened = { store, snapshots, status, check: async () => ({ writes: true }), close() {} };
    Object.assign(globalThis, { openStoreOfTest: () => opened });
    const module =
      'export const openEventStore = (options) => globalThis.openStoreOfTest(options);';
    writeFileSync(path('store.mjs'), module);
    const tokens = Object.fromEntries(USERS.map((user) => [user, [tokenOf(user)]]));
    writeFileSync(path('tokens.json'), tokenFileOf(tokens), { mode: 0o600 });
    ends = [() => (store.delayMs = 0)];
    await start();
  });
  afterEach(async () => {
    for (const end of ends) await end();
    await service.stop();
  });

  async function start(environment: Readonly<Record<string, string>> = {}): Promise<void> {
    service = await startWatched({
      EVENT_STORE: path('store.mjs'),
      AUTH_TOKENS: '',
      AUTH_TOKENS_FILE: path('tokens.json'),
      ADMIN_PORT: '0',
      MAX_CONNECTIONS: '77',
      CACHE_MAX_BYTES: String(64 * MIB + 4),
      ...environment,
    });
  }
  const restart = async (environment: Parameters<typeof start>[0]) => {
    await service.stop();
    await start(environment);
  };
  const client = (user = 'alice') => new HttpClient(service.url, user);
  const valueOf = async (series: string) => (await metricsOf(service.adminUrl!))(series);
  const list = (user?: string) => client(user).list();
  const create = (...ids: number[]) => client().plants(...ids.map((id) => [id, 'Fern'] as const));
  /** Events that another instance has recorded. */
  const record = (count: number, name = 'Fern', user = 'alice') => {
    const events = Array.from({ length: count }, (_, id) => created(id, name));
    return store.append(plantStreamOf(user), BEGINNING, 'of another', encoded(...events));
  };
  const fail = (error: Error) => {
    const rejects = () => Promise.reject(error);
    Object.assign(store, { append: rejects, read: rejects });
    return error instanceof OutcomeUnknown ? client().create(1, 'Fern') : list();
  };
  /**
   * Sends requests whose replies of the store are late, and waits until they have what the metric
   * must show.
   */
  const pending = (series: string, value: number, ...sent: (() => Promise<unknown>)[]) => {
    store.delayMs = Infinity;
    const answers = sent.map((send) => send());
    ends.push(() => Promise.all(answers));
    return until(async () => (await valueOf(series)) === value);
  };
  async function open(count: number): Promise<void> {
    const { hostname, port } = new URL(service.url);
    for (let each = 0; each < count; each++) {
      const socket = connect(Number(port), hostname).on('error', () => {});
      ends.push(() => socket.destroy());
      await once(socket, 'connect');
    }
    // Each is accepted in a turn of its own.
    await new Promise(setImmediate);
  }
  const snapshotOf = (format: string) => {
    const head = { version: 3, commit: 'of another' };
    snapshots.kept.set(plantStreamOf('alice'), { format, head, chunks: [] });
  };

  const CALLS = 'plant_store_event_store_duration_seconds';
  const GET = 'method="GET",route="/plants",status="200"';
  /** More than none, and at most as long as the test took. */
  const TIME = 'the time';

  /**
   * Each begins at 0, in a service of its own; a row without an act is what it is from the start.
   */
  const ROWS: readonly (readonly [
    series: string,
    value: number | typeof TIME,
    act?: () => unknown,
  ])[] = [
    [
      `http_request_duration_seconds_count{${GET}}`,
      2,
      async () => [await list(), await list('bob')],
    ],
    [`http_request_duration_seconds_sum{${GET}}`, TIME, () => ((store.delayMs = SLOW_MS), list())],
    [
      'http_request_duration_seconds_count{method="DELETE",route="/plants/:id",status="404"}',
      1,
      () => client().delete(7),
    ],
    [
      'http_request_failures_total{reason="token_unknown"}',
      1,
      () => new HttpClient(service.url, 'eva').list(),
    ],
    ['http_request_failures_total{reason="bug"}', 1, () => fail(new Error('a bug'))],
    ['http_request_failures_total{reason="store"}', 1, () => fail(AWAY)],
    [`${CALLS}_count{operation="append",outcome="appended"}`, 2, () => create(1, 2)],
    [`${CALLS}_count{operation="read",outcome="unavailable"}`, 1, () => fail(AWAY)],
    [`${CALLS}_count{operation="read",outcome="read"}`, 1, () => list()],
    [
      `${CALLS}_sum{operation="read",outcome="read"}`,
      TIME,
      () => ((store.delayMs = SLOW_MS), list()),
    ],
    [
      `${CALLS}_sum{operation="append",outcome="appended"}`,
      TIME,
      () => {
        const append = store.append.bind(store);
        // It works before it returns a promise.
        store.append = (...call) => {
          const since = performance.now();
          while (performance.now() - since < SLOW_MS);
          return append(...call);
        };
        return create(1);
      },
    ],
    ['plant_store_appended_events_total', 3, () => create(1, 2, 3)],
    ['plant_store_loaded_events_total', 5, async () => [await record(5), await list()]],
    [
      'plant_store_too_large_total',
      1,
      async () => {
        await restart({ CACHE_MAX_BYTES: String(MIB) });
        await record(1, 'x'.repeat(2 * MIB));
        await list();
      },
    ],
    [
      'plant_store_conflicts_total',
      1,
      async () => {
        await create(1);
        const head = (await store.head(plantStreamOf('alice')))!;
        await store.append(plantStreamOf('alice'), head, 'of another', encoded(created(7, 'Ivy')));
        await create(2);
      },
    ],
    [
      'plant_store_lost_histories_total',
      1,
      async () => {
        await create(1);
        await store.erase(plantStreamOf('alice'));
        await list();
      },
    ],
    [
      'plant_store_snapshots_total{outcome="saved"}',
      1,
      async () => {
        await restart({ SNAPSHOT_EVERY: '2' });
        await create(1, 2);
        await until(() => snapshots.kept.size > 0);
      },
    ],
    [
      'plant_store_snapshots_total{outcome="restored"}',
      1,
      async () => {
        await restart({ SNAPSHOT_EVERY: '4' });
        await create(1, 2, 3, 4);
        await until(() => snapshots.kept.size > 0);
        await restart({});
        await list();
      },
    ],
    [
      'plant_store_snapshots_total{outcome="ignored"}',
      1,
      async () => {
        await record(3);
        snapshotOf('unknown');
        await list();
      },
    ],
    [
      'plant_store_snapshots_total{outcome="failed"}',
      1,
      async () => [await record(3), (snapshots.fault = AWAY), await list()],
    ],
    ['plant_store_faults_total{reason="unavailable"}', 1, () => fail(AWAY)],
    [
      'plant_store_faults_total{reason="unknown"}',
      1,
      async () => {
        await restart({ STORE_TIMEOUT_MS: '50' });
        return fail(new OutcomeUnknown('lost'));
      },
    ],
    [
      'plant_store_faults_total{reason="unreadable"}',
      1,
      () => fail(new UnreadableHistory('a gap')),
    ],
    ['plant_store_faults_total{reason="bug"}', 1, () => fail(new Error('a bug'))],
    ['plant_store_auth_source_up{source="token_file"}', 1],
    [
      'plant_store_auth_source_up{source="token_file"}',
      0,
      () => {
        writeFileSync(path('tokens.json'), '');
        service.reload!();
      },
    ],
    [`plant_store_build_info{version="${packageVersion()}",node="${process.version}"}`, 1],
    ['plant_store_ready', 1],
    ['plant_store_ready', 0, () => (opened.check = () => Promise.reject(AWAY))],
    ['plant_store_cache_streams', 2, async () => [await list(), await list('bob')]],
    ['plant_store_cache_bytes', 2 * 2048, async () => [await list(), await list('bob')]],
    ['plant_store_cache_limit_bytes', 64 * MIB + 4],
    ['plant_store_command_bytes', 0, () => create(1)],
    [
      'plant_store_command_bytes',
      480,
      () =>
        pending(
          'plant_store_command_bytes',
          480,
          ...['alice', 'bob'].map((user) => () => client(user).create(1, 'Fern')),
        ),
    ],
    ['plant_store_command_limit_bytes', 16 * MIB + 1],
    [
      'plant_store_loads_waiting',
      2,
      () => pending('plant_store_loads_waiting', 2, ...USERS.map((user) => () => list(user))),
    ],
    ['http_connections', 2, () => open(2)],
    ['http_connections_limit', 77],
    ['http_refused_connections_total', 1, () => open(78)],
    [
      'http_list_text_bytes',
      1024 + '[{"name":"Fern"}]'.length,
      async () => {
        await create(1);
        await list();
      },
    ],
    [
      'http_long_lists',
      1,
      async () => {
        await record(20, 'x'.repeat(MIB));
        const reader = await RawSocket.open(service.url);
        ends.push(() => reader.reset());
        reader.socket.pause();
        reader.send(LIST);
        await until(() => reader.socket.readableLength > 0);
      },
    ],
    [
      'plant_store_cache_misses_total',
      2,
      async () => [await list(), await list('bob'), await list()],
    ],
    [
      'plant_store_cache_hits_total',
      3,
      async () => [await list(), await list(), await list(), await list()],
    ],
    [
      'plant_store_cache_evictions_total',
      1,
      async () => {
        await restart({ CACHE_MAX_BYTES: String(MIB) });
        for (const user of ['alice', 'bob']) {
          await record(1, 'x'.repeat(0.4 * MIB), user);
          await list(user);
        }
      },
    ],
    [
      'plant_store_log_lines_dropped_total',
      7,
      () => {
        const { dropped } = standardOutput();
        standardOutput().dropped = 7;
        ends.push(() => (standardOutput().dropped = dropped));
      },
    ],
    ['plant_store_event_store_available{operation="read"}', 1],
    ['plant_store_event_store_available{operation="append"}', 1],
    ['plant_store_event_store_available{operation="read"}', 1, refuseWrites],
    ['plant_store_event_store_available{operation="append"}', 0, refuseWrites],
    ['plant_store_event_store_info{id="odd"}', 1],
    ['plant_store_redis_finding{finding="evicts"}', 1],
    ['plant_store_redis_finding{finding="replica"}', 0],
  ];
  function refuseWrites(): void {
    opened.check = async () => ({ writes: false });
  }

  for (const [series, value, act] of ROWS)
    it(`${series} is ${value} ${act ? 'after a change' : 'from the start'}`, async () => {
      const since = performance.now();
      await act?.();
      // A scrape changes nothing.
      for (let scrape = 1; scrape <= 2; scrape++) {
        const found = await valueOf(series);
        if (value === TIME)
          expect(found).to.be.within(SLOW_MS / 1000, (performance.now() - since) / 1000);
        else expect(found).to.equal(value);
      }
    });

  it('plant_store_event_store_info has only the current id, even after the store was emptied', async () => {
    expect(await valueOf('plant_store_event_store_info{id="odd"}')).to.equal(1);
    const status = opened.status!;
    opened.status = () => ({ ...status(), id: 'even' });
    const value = await metricsOf(service.adminUrl!);
    expect(value('plant_store_event_store_info{id="even"}')).to.equal(1);
    expect(value('plant_store_event_store_info{id="odd"}')).to.be.NaN;
  });

  it('http_request_duration_seconds does not count input that is not a request', async () => {
    const socket = await RawSocket.open(service.url);
    expect((await socket.send('GET\r\n\r\n').answer()).status).to.equal(400);
    const text = await (await fetch(`${service.adminUrl!}/metrics`)).text();
    expect(text).not.to.match(/http_request_duration_seconds.*status="400"/);
  });

  it('has a row in this table for each exported name', async () => {
    const text = await (await fetch(`${service.adminUrl!}/metrics`)).text();
    const names = [...text.matchAll(/^# TYPE ((?:http|plant_store)_\w+)/gm)].map(
      ([, name]) => name!,
    );
    expect(names).to.have.length.above(20);
    for (const name of names)
      expect(
        ROWS.filter(([series]) => series.replace(/(?:_count|_sum)?(?:\{.*)?$/, '') === name),
        name,
      ).to.have.length.above(0);
  });
});
