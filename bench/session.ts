/** What is asked of one server: checked, warmed up, and measured a slice of time at a time. */
import { setTimeout as delay } from 'node:timers/promises';
import { CONNECTIONS, type Generator, type Ids, type Method, RanOut, type Result, run } from './load';
import type { Placement } from './machine';
import { seed } from './seed';
import type { RunningServer } from './server';

/** The ids of the plants that a list shows are 1 to this. */
export const LISTED = 100;

/** Who asks, and what there is. */
export interface Asking {
  /** The token of whoever asks for lists, and of whoever writes. */
  readonly reader: string;
  readonly writer: string;
  /** Whether it keeps what is created, so that only this can be deleted. */
  readonly remembers: boolean;
  /** Whether the list has its plants from the beginning; others are given 100. */
  readonly bringsItsOwn?: boolean;
  /** How many plants the list shows, where not 100. */
  readonly listed?: number;
  /** Behind the path of the list, from the question mark on. */
  readonly query?: string;
  /** Ids from here on are free. */
  readonly firstId?: number;
}

export interface Conditions {
  readonly generator: Generator;
  readonly placement: Placement;
  /** How long each kind of request is sent before it is measured. */
  readonly warmUpSeconds: number;
  /** How often it is measured, in turns with what it is compared with, */
  readonly slices: number;
  /** and for how long each time. */
  readonly seconds: number;
}

/** What came of one slice. */
export interface Slice extends Result {
  /** Processor time of the server, in seconds; nothing where the system does not tell. */
  readonly cpuSeconds: number | undefined;
}

export class Session {
  readonly #url: string;
  /** Plants that are there to be deleted. */
  #living: Ids[] = [];
  /** How many of them it may take a second, by what is known so far. */
  #deletionsPerSecond = 0;
  #nextId: number;

  constructor(
    private readonly asking: Asking,
    private readonly server: RunningServer,
    private readonly conditions: Conditions,
  ) {
    this.#url = `${server.url}/plants`;
    this.#nextId = asking.firstId ?? LISTED + 1;
  }

  /** The list is as long as it should be, and what is created can be deleted: else there is nothing to compare. */
  async prepare(): Promise<void> {
    const { reader, writer, remembers, bringsItsOwn, listed = LISTED, query = '' } = this.asking;
    if (remembers && !bringsItsOwn) await seed({ url: this.#url, token: reader, firstId: 1, count: LISTED });
    const list = await this.#answerTo('GET', query, reader);
    if (!Array.isArray(list) || list.length !== listed || !(list[0] as { name?: string }).name) {
      throw new Error(`the list is not one of ${listed} plants`);
    }
    const id = this.#nextId++;
    const plant = await this.#answerTo('POST', '', writer, { id, name: 'Fern', tag: 'indoor' });
    if ((plant as { name?: string }).name !== 'Fern') throw new Error('what was created is not answered');
    await this.#answerTo('DELETE', `/${id}`, writer);
  }

  async #answerTo(method: Method, path: string, token: string, body?: object): Promise<unknown> {
    const answer = await fetch(this.#url + path, {
      method,
      headers: { Authorization: `Bearer ${token}`, ...(body && { 'Content-Type': 'application/json' }) },
      ...(body && { body: JSON.stringify(body) }),
    });
    if (!answer.ok) throw new Error(`${method} was answered with ${answer.status}`);
    const text = await answer.text();
    return text === '' ? undefined : JSON.parse(text);
  }

  /** Behind it nothing is in the way of as many slices as the conditions say. */
  async warmUp(method: Method): Promise<void> {
    const { warmUpSeconds, slices, seconds } = this.conditions;
    if (warmUpSeconds > 0) await this.#ask(method, warmUpSeconds);
    if (method === 'DELETE') await this.#provide(slices * seconds);
  }

  slice(method: Method): Promise<Slice> {
    return this.#ask(method, this.conditions.seconds);
  }

  async #ask(method: Method, seconds: number): Promise<Slice> {
    if (method === 'GET') return this.#run(method, this.asking.reader, [], seconds);
    return method === 'POST' ? this.#post(seconds) : this.#delete(seconds);
  }

  async #post(seconds: number): Promise<Slice> {
    const first = this.#nextId;
    const slice = await this.#run('POST', this.asking.writer, [{ first, count: 1e9 }], seconds);
    this.#nextId += slice.requests + 2 * CONNECTIONS;
    // Of the last it is not known whether they came to be: those sent within one longest answer of the end.
    const uncertain = Math.ceil((2 * slice.mostMs * slice.requests) / (1000 * slice.seconds));
    const count = slice.requests - CONNECTIONS - uncertain;
    if (count > 0) this.#living.push({ first, count });
    // A guess, until it is known.
    this.#deletionsPerSecond = Math.max(this.#deletionsPerSecond, (2 * slice.requests) / slice.seconds);
    return slice;
  }

  /** Each id once. Where that was quicker than ever before: again, with twice as many, none of those. */
  async #delete(seconds: number): Promise<Slice> {
    if (!this.asking.remembers)
      return this.#run('DELETE', this.asking.writer, [{ first: 1, count: 1e9 }], seconds);
    await this.#provide(seconds);
    try {
      const slice = await this.#run('DELETE', this.asking.writer, this.#living, seconds);
      this.#living = behind(this.#living, slice.requests + 2 * CONNECTIONS);
      this.#deletionsPerSecond = Math.max(this.#deletionsPerSecond, (1.5 * slice.requests) / slice.seconds);
      return slice;
    } catch (error) {
      if (!(error instanceof RanOut)) throw error;
      this.#living = [];
      this.#deletionsPerSecond *= 2;
      return this.#delete(seconds);
    }
  }

  /** As many plants as are deleted in `seconds`. */
  async #provide(seconds: number): Promise<void> {
    if (!this.asking.remembers) return;
    const there = this.#living.reduce((sum, { count }) => sum + count, 0);
    // The generators do not end on the dot.
    const needed = this.#deletionsPerSecond * (seconds + 0.2) + 10 * CONNECTIONS;
    const count = Math.ceil(needed - there);
    if (count <= 0) return;
    const ids = { first: this.#nextId, count };
    await seed({ url: this.#url, token: this.asking.writer, firstId: ids.first, count });
    this.#nextId += count;
    this.#living.push(ids);
  }

  async #run(method: Method, token: string, ids: readonly Ids[], seconds: number): Promise<Slice> {
    const { generator, placement } = this.conditions;
    const url = method === 'GET' ? this.#url + (this.asking.query ?? '') : this.#url;
    const before = this.server.cpu();
    const result = await run({ method, url, token, ids, seconds }, generator, placement.load);
    // What was under way at the end is still being answered.
    await delay(50);
    const after = this.server.cpu();
    const known = before !== undefined && after !== undefined;
    return { ...result, cpuSeconds: known ? after - before : undefined };
  }
}

/** What is left of the ids behind the first `count`. */
export function behind(ids: readonly Ids[], count: number): Ids[] {
  const left: Ids[] = [];
  for (const range of ids) {
    const gone = Math.min(range.count, count);
    count -= gone;
    if (gone < range.count) left.push({ first: range.first + gone, count: range.count - gone });
  }
  return left;
}
