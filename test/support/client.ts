import { documentedFetch } from './documented-fetch';
import { tokenOf } from './instance';
import { until } from './until';

export interface Answer {
  readonly status: number;
  /** The number of an error answer. */
  readonly error?: number;
  /** The names of a list. */
  readonly names?: readonly string[];
  /** How long it took, in ms. */
  readonly took: number;
}

/** One user's way to one instance. */
export class Client {
  constructor(
    private readonly url: string,
    private readonly user: string = 'alice',
  ) {}

  create(id: number, name: string): Promise<Answer> {
    return this.#ask('POST', '/plants', JSON.stringify({ id, name }));
  }

  delete(id: number): Promise<Answer> {
    return this.#ask('DELETE', `/plants/${id}`);
  }

  list(): Promise<Answer> {
    return this.#ask('GET', '/plants');
  }

  async #ask(method: string, path: string, body?: string): Promise<Answer> {
    const asked = performance.now();
    const { status, text } = await documentedFetch(this.url + path, {
      method,
      headers: { authorization: `Bearer ${tokenOf(this.user)}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body }),
    });
    const json = (text === '' ? {} : JSON.parse(text)) as { error?: number } | { name: string }[];
    const took = performance.now() - asked;
    if (Array.isArray(json)) return { status, names: json.map(({ name }) => name), took };
    return { status, ...(json.error === undefined ? {} : { error: json.error }), took };
  }
}

/** Asks until the answer is not 503 any more, for 20 seconds at most; how long that took, in ms. */
export async function untilServed(ask: () => Promise<Answer>): Promise<number> {
  const since = performance.now();
  await until(async () => (await ask()).status !== 503, 20_000);
  return performance.now() - since;
}
