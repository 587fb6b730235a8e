import { expect } from 'chai';
import { type Answer, type Message, exchange } from './exchange';

const JSON_TYPE = { 'Content-Type': 'application/json' };

/** One user's way to the service. Where there are several instances, each request goes to the next one. */
export class Caller {
  #asked = 0;

  constructor(
    private readonly urls: readonly string[],
    readonly token: string,
  ) {}

  send(message: Message): Promise<Answer> {
    const headers = { Authorization: `Bearer ${this.token}`, ...message.headers };
    return exchange(this.urls[this.#asked++ % this.urls.length]!, { ...message, headers });
  }

  get(path: string, headers: Message['headers'] = {}): Promise<Answer> {
    return this.send({ path, headers });
  }

  /** `body`: the text or bytes of the body; anything else is sent as its JSON. */
  post(body: unknown, headers: Message['headers'] = JSON_TYPE): Promise<Answer> {
    const asItIs = typeof body === 'string' || body instanceof Uint8Array;
    return this.send({
      method: 'POST',
      path: '/plants',
      headers,
      body: asItIs ? body : JSON.stringify(body),
    });
  }

  delete(id: string | number | bigint): Promise<Answer> {
    return this.send({ method: 'DELETE', path: `/plants/${id}` });
  }

  /** Creates plants that must be taken; the id as it is to stand in the JSON text. */
  async plants(...plants: (readonly [id: string | number, name: string])[]): Promise<void> {
    for (const [id, name] of plants) {
      expect((await this.post(`{"id":${id},"name":${JSON.stringify(name)}}`)).status).to.equal(200);
    }
  }

  /** The names of the list, or of the page at `path`. */
  async names(path = '/plants'): Promise<string[]> {
    const { status, text } = await this.get(path);
    expect(status).to.equal(200);
    return (JSON.parse(text) as { name: string }[]).map(({ name }) => name);
  }
}

/** Where `Link: <…>; rel="next"` leads; `undefined` where there is none. */
export function nextPage({ headers }: Answer): string | undefined {
  const link = headers.link as string | undefined;
  if (link === undefined) return undefined;
  return /^<(\/plants\?limit=\d+&cursor=[\w-]+)>; rel="next"$/.exec(link)![1];
}
