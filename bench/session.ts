/** What is asked of one server, method by method: checked, warmed up, measured. */
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
  readonly seconds: number;
}

export interface Figure {
  readonly perSecond: number;
  readonly p99Ms: number;
  /** Processor time of the server for one request, in µs; nothing where the system does not tell. */
  readonly cpuMicroseconds: number | undefined;
}

export type Figures = Readonly<Record<Method, Figure>>;

export class Session {
  readonly #url: string;
  /** Plants that are there to be deleted. */
  #living: Ids[] = [];
  #nextId: number;

  constructor(
    private readonly asking: Asking,
    private readonly server: RunningServer,
    private readonly conditions: Conditions,
  ) {
    this.#url = `${server.url}/plants`;
    this.#nextId = asking.firstId ?? LISTED + 1;
  }

  async figures(): Promise<Figures> {
    const { warmUpSeconds, seconds } = this.conditions;
    await this.#prepare();
    if (warmUpSeconds > 0) await this.#get(warmUpSeconds);
    const GET = await this.#figure(() => this.#get(seconds));
    if (warmUpSeconds > 0) await this.#post(warmUpSeconds);
    const POST = await this.#figure(() => this.#post(seconds));
    const DELETE = await this.#deletions(POST.perSecond);
    return { GET, POST, DELETE };
  }

  /** The list is as long as it should be, and what is created can be deleted: else there is nothing to compare. */
  async #prepare(): Promise<void> {
    const { reader, writer, remembers, bringsItsOwn, listed = LISTED, query = '' } = this.asking;
    if (remembers && !bringsItsOwn) await seed({ url: this.#url, token: reader, firstId: 1, count: LISTED });
    const list = await this.#ask('GET', query, reader);
    if (!Array.isArray(list) || list.length !== listed || !(list[0] as { name?: string }).name) {
      throw new Error(`the list is not one of ${listed} plants`);
    }
    const id = this.#nextId++;
    const plant = await this.#ask('POST', '', writer, { id, name: 'Fern', tag: 'indoor' });
    if ((plant as { name?: string }).name !== 'Fern') throw new Error('what was created is not answered');
    await this.#ask('DELETE', `/${id}`, writer);
  }

  async #ask(method: Method, path: string, token: string, body?: object): Promise<unknown> {
    const answer = await fetch(this.#url + path, {
      method,
      headers: { Authorization: `Bearer ${token}`, ...(body && { 'Content-Type': 'application/json' }) },
      ...(body && { body: JSON.stringify(body) }),
    });
    if (!answer.ok) throw new Error(`${method} was answered with ${answer.status}`);
    const text = await answer.text();
    return text === '' ? undefined : JSON.parse(text);
  }

  async #get(seconds: number): Promise<Result> {
    return this.#run('GET', this.asking.reader, [], seconds);
  }

  async #post(seconds: number): Promise<Result> {
    const first = this.#nextId;
    const result = await this.#run('POST', this.asking.writer, [{ first, count: 1e9 }], seconds);
    this.#nextId += result.requests + 2 * CONNECTIONS;
    // Of the last it is not known whether they came to be: those sent within one longest answer of the end.
    const uncertain = Math.ceil((2 * result.mostMs * result.requests) / (1000 * result.seconds));
    const count = result.requests - CONNECTIONS - uncertain;
    if (count > 0) this.#living.push({ first, count });
    return result;
  }

  /** How many ids are needed is known from the warm-up, and for that it is guessed. */
  async #deletions(postsPerSecond: number): Promise<Figure> {
    const { warmUpSeconds, seconds } = this.conditions;
    const guess = 2 * postsPerSecond;
    if (warmUpSeconds === 0) return this.#deleteWithEnough(guess, seconds);
    const { perSecond } = await this.#deleteWithEnough(guess, Math.min(1, warmUpSeconds));
    return this.#deleteWithEnough(Math.max(1.5 * perSecond, guess), seconds);
  }

  /** Each id once. Where that was quicker than ever before: again, with twice as many, none of those. */
  async #deleteWithEnough(perSecond: number, seconds: number): Promise<Figure> {
    // The generators do not end on the dot.
    await this.#provide(perSecond * (seconds + 0.2));
    try {
      return await this.#figure(() => this.#delete(seconds));
    } catch (error) {
      if (!(error instanceof RanOut)) throw error;
      this.#living = [];
      return this.#deleteWithEnough(2 * perSecond, seconds);
    }
  }

  async #delete(seconds: number): Promise<Result> {
    const ids = this.asking.remembers ? this.#living : [{ first: 1, count: 1e9 }];
    const result = await this.#run('DELETE', this.asking.writer, ids, seconds);
    this.#living = behind(this.#living, result.requests + 2 * CONNECTIONS);
    return result;
  }

  async #provide(needed: number): Promise<void> {
    const there = this.#living.reduce((sum, { count }) => sum + count, 0);
    const count = Math.ceil(needed + 10 * CONNECTIONS - there);
    if (!this.asking.remembers || count <= 0) return;
    const ids = { first: this.#nextId, count };
    await seed({ url: this.#url, token: this.asking.writer, firstId: ids.first, count });
    this.#nextId += count;
    this.#living.push(ids);
  }

  async #run(method: Method, token: string, ids: readonly Ids[], seconds: number): Promise<Result> {
    const { generator, placement } = this.conditions;
    const url = method === 'GET' ? this.#url + (this.asking.query ?? '') : this.#url;
    const result = await run({ method, url, token, ids, seconds }, generator, placement.load);
    // What was under way at the end is still being answered.
    await delay(50);
    return result;
  }

  async #figure(work: () => Promise<Result>): Promise<Figure> {
    const before = this.server.cpu();
    const { requests, seconds, p99Ms } = await work();
    const after = this.server.cpu();
    return {
      perSecond: requests / seconds,
      p99Ms,
      cpuMicroseconds:
        before === undefined || after === undefined ? undefined : ((after - before) * 1e6) / requests,
    };
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
