/** The measurement of one server: check, warm-up, and slices of load. */
import type { Profiler } from 'node:inspector';
import { setTimeout as delay } from 'node:timers/promises';
import { CONNECTIONS, type Generator, OutOfIds, type LoadResult, run, tokenOf } from './load';
import type { IdRange, LoadMethod } from '../test/world/load/workload';
import type { Placement } from './machine';
import { seed } from './seed';
import type { RunningServer } from './server';

/** A list has the plants with the ids from 1 to this. */
const LISTED = 100;

/** Time for what a server does after its last response, such as saving a snapshot. */
const QUIET_MS = 500;

/** The properties of a server that its session must know. */
export interface Target {
  /** The tokens for lists and for writes; with `users`, they are followed by the number of the user. */
  readonly reader: string;
  readonly writer: string;
  /** Number of users who take turns; see `Load`. */
  readonly users?: number | undefined;
  /** Whether it stores plants, so that only a created plant can be deleted. */
  readonly remembers: boolean;
  /** Whether it starts with plants; otherwise the session creates 100 of each user. */
  readonly hasInitialPlants?: boolean;
  /** Number of plants in the list; 100 by default. */
  readonly listed?: number;
  /** The query of the list, with the question mark. */
  readonly query?: string;
  /** IdRange from this one on are free. */
  readonly firstId?: number;
}

export interface Conditions {
  readonly generator: Generator;
  readonly placement: Placement;
  /** Duration of the warm-up of each method. */
  readonly warmUpSeconds: number;
  /** Duration of each load at a constant rate before it is measured. */
  readonly settleSeconds: number;
  /** Number of measured slices, in turns with the other server. */
  readonly slices: number;
  /** Duration of a slice. */
  readonly seconds: number;
}

/** The result of one slice. */
export interface MeasuredSlice extends LoadResult {
  /** Processor time of the server, in seconds; `undefined` if the system does not report it. */
  readonly cpuSeconds: number | undefined;
}

export class ServerSession {
  readonly #url: string;
  /** Plants that can be deleted. */
  #living: IdRange[] = [];
  /** Estimated maximum number of deletions per second. */
  #deletionsPerSecond = 1000;
  #nextId: number;

  constructor(
    private readonly target: Target,
    private readonly server: RunningServer,
    private readonly conditions: Conditions,
  ) {
    this.#url = `${server.url}/plants`;
    this.#nextId = target.firstId ?? LISTED * (target.users ?? 1) + 1;
  }

  /** Checks that the list has the right length and that a created plant can be deleted. */
  async prepare(): Promise<void> {
    const { remembers, hasInitialPlants, users, listed = LISTED, query = '' } = this.target;
    const id = this.#nextId++;
    const reader = tokenOf(this.target.reader, id, users);
    const writer = tokenOf(this.target.writer, id, users);
    if (remembers && !hasInitialPlants) {
      const readerOf = (plant: number) => tokenOf(this.target.reader, plant, users);
      await seed({ url: this.#url, tokenOf: readerOf, firstId: 1, count: LISTED * (users ?? 1) });
    }
    const list = await this.#answerTo('GET', query, reader);
    if (!Array.isArray(list) || list.length !== listed || !(list[0] as { name?: string }).name) {
      throw new Error(`the list is not one of ${listed} plants`);
    }
    const plant = await this.#answerTo('POST', '', writer, { id, name: 'Fern', tag: 'indoor' });
    if ((plant as { name?: string }).name !== 'Fern')
      throw new Error('a POST did not return the created plant');
    await this.#answerTo('DELETE', `/${id}`, writer);
  }

  async #answerTo(method: LoadMethod, path: string, token: string, body?: object): Promise<unknown> {
    const answer = await fetch(this.#url + path, {
      method,
      headers: { Authorization: `Bearer ${token}`, ...(body && { 'Content-Type': 'application/json' }) },
      ...(body && { body: JSON.stringify(body) }),
    });
    if (!answer.ok) throw new Error(`${method} was answered with ${answer.status}`);
    const text = await answer.text();
    return text === '' ? undefined : JSON.parse(text);
  }

  /** Creates the plants that the warm-up and all slices will delete. */
  async provide(method: LoadMethod): Promise<void> {
    const { warmUpSeconds, slices, seconds } = this.conditions;
    if (method === 'DELETE') await this.#provide(warmUpSeconds + slices * seconds);
  }

  async warmUp(method: LoadMethod): Promise<void> {
    await this.provide(method);
    const { warmUpSeconds } = this.conditions;
    if (warmUpSeconds > 0) await this.#load(method, warmUpSeconds);
  }

  slice(method: LoadMethod): Promise<MeasuredSlice> {
    return this.#load(method, this.conditions.seconds);
  }

  /** The profile of a slice. */
  async profiled(method: LoadMethod): Promise<Profiler.Profile> {
    // Not the creation of these.
    if (method === 'DELETE') await this.#provide(this.conditions.seconds);
    await this.server.profile();
    await this.slice(method);
    return this.server.profile();
  }

  /** The server does nothing until {@link resumed}. */
  pause(): void {
    this.server.pause();
  }

  /** The server runs until `work` has ended. If it waited for Redis when it is paused, it would take its connection for lost. */
  async resumed(work: () => Promise<void>): Promise<void> {
    this.server.resume();
    try {
      await work();
      await delay(QUIET_MS);
    } finally {
      this.server.pause();
    }
  }

  /** Sends `rate` requests a second, however slow the responses are. */
  async atRate(method: LoadMethod, rate: number, seconds: number): Promise<MeasuredSlice> {
    return this.#load(method, seconds, rate);
  }

  async #load(method: LoadMethod, seconds: number, rate?: number): Promise<MeasuredSlice> {
    if (method === 'GET') return this.#run(method, this.target.reader, [], seconds, rate);
    return method === 'POST' ? this.#post(seconds, rate) : this.#delete(seconds, rate);
  }

  async #post(seconds: number, rate: number | undefined): Promise<MeasuredSlice> {
    const first = this.#nextId;
    const slice = await this.#run('POST', this.target.writer, [{ first, count: 1e9 }], seconds, rate);
    this.#nextId += slice.requests + 2 * CONNECTIONS;
    // It is unknown whether the last plants exist: those requested within the longest latency before the end.
    const uncertain = Math.ceil((2 * slice.maxMs * slice.requests) / (1000 * slice.seconds));
    const count = slice.requests - CONNECTIONS - uncertain;
    if (count > 0) this.#living.push({ first, count });
    // An estimate, until deletions are measured.
    this.#deletionsPerSecond = Math.max(this.#deletionsPerSecond, (2 * slice.requests) / slice.seconds);
    return slice;
  }

  /** Deletes each id once. If the ids run out, it repeats the slice with twice as many new ids. */
  async #delete(seconds: number, rate: number | undefined): Promise<MeasuredSlice> {
    const { writer, remembers } = this.target;
    if (!remembers) return this.#run('DELETE', writer, [{ first: 1, count: 1e9 }], seconds, rate);
    await this.#provide(seconds, rate);
    try {
      const slice = await this.#run('DELETE', writer, this.#living, seconds, rate);
      this.#living = idsAfter(this.#living, slice.requests + 2 * CONNECTIONS);
      this.#deletionsPerSecond = Math.max(this.#deletionsPerSecond, (1.5 * slice.requests) / slice.seconds);
      return slice;
    } catch (error) {
      if (!(error instanceof OutOfIds)) throw error;
      this.#living = [];
      this.#deletionsPerSecond *= 2;
      return this.#delete(seconds, rate);
    }
  }

  /** Creates the plants that can be deleted in `seconds`. */
  async #provide(seconds: number, rate?: number): Promise<void> {
    const { remembers, writer, users } = this.target;
    const { settleSeconds } = this.conditions;
    if (!remembers) return;
    const there = this.#living.reduce((sum, { count }) => sum + count, 0);
    // The generators do not stop exactly on time.
    const needed =
      rate === undefined
        ? this.#deletionsPerSecond * (seconds + 1.2)
        : rate * (seconds + settleSeconds + 0.2);
    const count = Math.ceil(needed + 10 * CONNECTIONS - there);
    if (count <= 0) return;
    const firstId = this.#nextId;
    await seed({ url: this.#url, tokenOf: (id) => tokenOf(writer, id, users), firstId, count });
    this.#nextId += count;
    this.#living.push({ first: firstId, count });
  }

  async #run(
    method: LoadMethod,
    token: string,
    ids: readonly IdRange[],
    seconds: number,
    rate: number | undefined,
  ): Promise<MeasuredSlice> {
    const { generator, placement, settleSeconds } = this.conditions;
    const { query = '', users } = this.target;
    const url = method === 'GET' ? this.#url + query : this.#url;
    const before = this.server.cpu();
    const load = { method, url, token, users, ids, seconds, rate, settleSeconds };
    const result = await run(load, generator, placement.load);
    // Requests in flight at the end still get their responses.
    await delay(50);
    const after = this.server.cpu();
    const known = before !== undefined && after !== undefined;
    return { ...result, cpuSeconds: known ? after - before : undefined };
  }
}

/** The ids without the first `count`. */
export function idsAfter(ids: readonly IdRange[], count: number): IdRange[] {
  const left: IdRange[] = [];
  for (const range of ids) {
    const deleted = Math.min(range.count, count);
    count -= deleted;
    if (deleted < range.count) left.push({ first: range.first + deleted, count: range.count - deleted });
  }
  return left;
}
