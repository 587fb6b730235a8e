import { expect } from 'chai';
import { Agent, request } from 'node:http';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { metricOf } from '../../support/metrics';
import { randomFrom } from '../../support/random';
import { type RedisServer, describeOwnRedis } from '../../support/redis';
import { tokenOf } from '../../support/token';
import { writeTokenFile } from '../../support/token-file';
import { loadFixture } from './fixture';
import { userNames, writeHistories } from './histories';
import { expectGoals, mebibytes, reportFigures } from './report';
import { LONG, SEED, residentBytes } from './service';
import { zipf } from './zipf';

const USERS = LONG ? 100_000 : 2_000;
const PLANTS_EACH = 20;
/** One user in ten fits into memory. A user counts as ten plants more. */
const ROOM = (USERS / 10) * (PLANTS_EACH + 10);
const DURATION_MS = LONG ? 180_000 : 5_000;
/** See {@link zipf}. */
const SKEW = 1.1;
const CLIENTS = 64;

/** The plants of one user as they must be listed, by id, in order. */
type NamesById = Map<number, string>;

describeOwnRedis(`${USERS} users, of whom a tenth fits into memory`, (startRedis) => {
  const report = reportFigures();
  const { start } = loadFixture();
  const users = userNames('user', USERS);
  let redis: RedisServer;
  let directory: string;

  before(async function () {
    this.timeout(120_000);
    redis = await startRedis('--appendonly', 'no');
    await writeHistories(redis.admin, users, { events: PLANTS_EACH });
    directory = mkdtempSync(join(tmpdir(), 'plant-store-many-users-'));
    writeTokenFile(join(directory, 'tokens.json'), users);
  });
  after(() => {
    rmSync(directory, { recursive: true });
  });

  it('each see their own plants, evicted or not, and the memory stays within its bound', async function () {
    this.timeout(DURATION_MS + 60_000).slow(DURATION_MS + 30_000);
    const service = await start(redis.url, [], {
      AUTH_TOKENS: '',
      AUTH_TOKENS_FILE: join(directory, 'tokens.json'),
      CACHE_MAX_PLANTS: String(ROOM),
      LOG_LEVEL: 'warn',
    });
    const clients = new Clients(service.url, users);
    const playing = clients.play(DURATION_MS);
    let mostPlants = 0;
    const samples: number[] = [];
    for (const end = performance.now() + DURATION_MS; performance.now() < end;) {
      await delay(500);
      mostPlants = Math.max(mostPlants, await metricOf(service.url, 'plant_store_plants'));
      samples.push(residentBytes(service.pid));
    }
    await playing;

    const hits = await metricOf(service.url, 'plant_store_cache_hits_total');
    const misses = await metricOf(service.url, 'plant_store_cache_misses_total');
    const evictions = await metricOf(service.url, 'plant_store_cache_evictions_total');
    const { requests, refused, wrong, latencies } = clients;
    const at = (share: number) => latencies.toSorted((a, b) => a - b)[Math.floor(share * latencies.length)]!;
    report(`${USERS} users of ${PLANTS_EACH} plants, Zipf ${SKEW}, ${DURATION_MS / 1000} s`, [
      {
        requests,
        'hit rate': (hits / (hits + misses)).toFixed(3),
        loads: misses,
        evictions,
        'p50 / p99, ms': `${at(0.5).toFixed(1)} / ${at(0.99).toFixed(1)}`,
        'most plants': mostPlants,
        memory: mebibytes(Math.max(...samples)),
      },
    ]);
    expect(wrong, `lists that were wrong; seed ${SEED}`).to.deep.equal([]);
    expect(hits + misses, 'hits and misses').to.equal(requests);
    // No request finds its user there until another one has loaded it, and each eviction needs a load.
    expect(misses, 'loads').to.be.above(evictions);
    expect(evictions, 'evictions').to.be.above(0);
    expectGoals(
      { what: 'refused requests', is: refused, atMost: 0 },
      { what: 'plants in memory', is: mostPlants, atMost: ROOM },
      // A short run may share the machine with other tests.
      { what: 'p99, ms', is: at(0.99), atMost: LONG ? 100 : Infinity, latency: true },
    );
  });
});

/** Clients that choose a user at random for each request, and compare each list with a model. */
class Clients {
  requests = 0;
  refused = 0;
  readonly wrong: string[] = [];
  readonly latencies: number[] = [];
  readonly #random = randomFrom(SEED);
  readonly #agent = new Agent({ keepAlive: true, maxSockets: CLIENTS });
  readonly #models = new Map<string, NamesById>();
  /** Users with a request in flight: a second one would make the order of events uncertain. */
  readonly #busy = new Set<string>();
  readonly #pick: (random: number) => number;
  #nextId = PLANTS_EACH + 1;

  constructor(
    private readonly url: string,
    private readonly users: readonly string[],
  ) {
    this.#pick = zipf(users.length, SKEW);
  }

  async play(durationMs: number): Promise<void> {
    const end = performance.now() + durationMs;
    const client = async () => {
      while (performance.now() < end) await this.#request(this.#choose());
    };
    await Promise.all(Array.from({ length: CLIENTS }, client));
    this.#agent.destroy();
  }

  #choose(): string {
    for (;;) {
      const user = this.users[this.#pick(this.#random())]!;
      if (!this.#busy.has(user)) return user;
    }
  }

  async #request(user: string): Promise<void> {
    this.#busy.add(user);
    const model = this.#modelOf(user);
    const kind = this.#random();
    if (kind < 0.7) {
      const { status, text } = await this.#send(user, 'GET', '/plants');
      const expected = JSON.stringify([...model.values()].map((name) => ({ name })));
      if (status === 200 && text !== expected) this.wrong.push(`${user}: ${text.slice(0, 200)}`);
    } else if (kind < 0.85 || model.size === 0) {
      const id = this.#nextId++;
      const { status } = await this.#send(
        user,
        'POST',
        '/plants',
        JSON.stringify({ id, name: `plant ${id}` }),
      );
      if (status === 200) model.set(id, `plant ${id}`);
    } else {
      const [id = 0] = model.keys();
      const { status } = await this.#send(user, 'DELETE', `/plants/${id}`);
      if (status === 204) model.delete(id);
    }
    this.#busy.delete(user);
  }

  /** As `writeHistories` has written it. */
  #modelOf(user: string): NamesById {
    const known = this.#models.get(user);
    if (known !== undefined) return known;
    const model: NamesById = new Map(
      Array.from({ length: PLANTS_EACH }, (_, index) => [index + 1, 'n'.repeat(12)] as const),
    );
    this.#models.set(user, model);
    return model;
  }

  async #send(
    user: string,
    method: string,
    path: string,
    body?: string,
  ): Promise<{ status: number; text: string }> {
    const began = performance.now();
    const headers = {
      Authorization: `Bearer ${tokenOf(user)}`,
      ...(body !== undefined && { 'Content-Type': 'application/json', 'Content-Length': body.length }),
    };
    const answer = await new Promise<{ status: number; text: string }>((resolve, reject) => {
      const sent = request(this.url + path, { method, headers, agent: this.#agent }, (response) => {
        let text = '';
        response.setEncoding('utf8');
        response.on('data', (some: string) => (text += some));
        response.on('end', () => resolve({ status: response.statusCode!, text }));
        response.on('error', reject);
      });
      sent.on('error', reject);
      sent.end(body);
    });
    this.requests++;
    this.latencies.push(performance.now() - began);
    // A plant that is deleted is always there.
    if (answer.status >= 400) this.refused++;
    return answer;
  }
}
