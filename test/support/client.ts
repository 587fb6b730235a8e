import { type IncomingHttpHeaders, request as httpRequest } from 'node:http';
import { expect } from 'chai';
import { expectDocumented } from './documented';
import { patient } from './patience';
import { tokenOf } from './token';
import { until } from './until';

export interface HttpRequest {
  readonly method?: string;
  /** Sent as given, without normalization. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Several pieces are sent as chunks, without Content-Length. */
  readonly body?: string | Uint8Array | readonly (string | Uint8Array)[];
  /** Closes the connection. */
  readonly signal?: AbortSignal;
}

export interface HttpResponse {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  /** The number and the message of an error response. */
  readonly error?: number;
  readonly message?: string;
  /** The names of a list. */
  readonly names?: readonly string[];
  /** From the start of the request to the end of the response, in ms. */
  readonly took: number;
}

/** Sends one request, below the path of `url`. Rejects if the response is not as the OpenAPI document says. */
export async function exchange(url: string, request: HttpRequest): Promise<HttpResponse> {
  const { method = 'GET', path, headers = {}, body, signal } = request;
  const { hostname, port, pathname } = new URL(url);
  const base = pathname.replace(/\/$/, '');
  const start = performance.now();
  const { status, fields, text } = await new Promise<{
    status: number;
    fields: IncomingHttpHeaders;
    text: string;
  }>((resolve, reject) => {
    const sent = httpRequest(
      { hostname, port, method, path: base + path, headers: { ...headers }, ...(signal && { signal }) },
      (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('error', reject);
        response.on('end', () => {
          const text = Buffer.concat(chunks).toString();
          resolve({ status: response.statusCode!, fields: response.headers, text });
        });
      },
    );
    sent.on('error', reject);
    for (const piece of Array.isArray(body) ? (body as readonly (string | Uint8Array)[]) : [])
      sent.write(piece);
    sent.end(Array.isArray(body) ? undefined : body);
  });
  const took = performance.now() - start;
  if (fields.link !== undefined) expect(fields.link).to.match(new RegExp(`^<${base}/plants[?]`));
  const byName = new Map(Object.entries(fields).map(([name, value]) => [name, String(value)]));
  expectDocumented({ method, target: path }, { status, fields: byName, body: text });
  return { status, headers: fields, text, ...contentOf(status, fields, text), took };
}

function contentOf(
  status: number,
  headers: IncomingHttpHeaders,
  text: string,
): Pick<HttpResponse, 'error' | 'message' | 'names'> {
  if (text === '' || headers['content-type'] !== 'application/json') return {};
  const json = JSON.parse(text) as { error: number; message: string } | { name: string }[];
  if (Array.isArray(json)) return { names: json.map(({ name }) => name) };
  return status < 400 ? {} : { error: json.error, message: json.message };
}

const JSON_TYPE = { 'Content-Type': 'application/json' };

/** A client of one user. If there are several instances, requests go to them in turn. */
export class HttpClient {
  readonly #urls: readonly string[];
  #requests = 0;

  constructor(
    urls: string | readonly string[],
    user = 'alice',
    readonly token = tokenOf(user),
  ) {
    this.#urls = [urls].flat();
  }

  send(request: HttpRequest): Promise<HttpResponse> {
    const headers = { Authorization: `Bearer ${this.token}`, ...request.headers };
    return exchange(this.#urls[this.#requests++ % this.#urls.length]!, { ...request, headers });
  }

  get(path: string, headers: HttpRequest['headers'] = {}): Promise<HttpResponse> {
    return this.send({ path, headers });
  }

  /** `body`: the text or bytes of the body; any other value is sent as JSON. */
  post(body: unknown, headers: HttpRequest['headers'] = JSON_TYPE): Promise<HttpResponse> {
    const raw = typeof body === 'string' || body instanceof Uint8Array;
    return this.send({ method: 'POST', path: '/plants', headers, body: raw ? body : JSON.stringify(body) });
  }

  /** The id, as written in the JSON text. */
  create(id: number | string, name: string): Promise<HttpResponse> {
    return this.post(`{"id":${id},"name":${JSON.stringify(name)}}`);
  }

  delete(id: string | number | bigint): Promise<HttpResponse> {
    return this.send({ method: 'DELETE', path: `/plants/${id}` });
  }

  list(): Promise<HttpResponse> {
    return this.get('/plants');
  }

  /** Creates plants, and fails unless each of them is accepted. */
  async plants(...plants: (readonly [id: number | string, name: string])[]): Promise<void> {
    for (const [id, name] of plants) expect((await this.create(id, name)).status).to.equal(200);
  }

  /** The names of the list, or of the page at `path`. */
  async names(path = '/plants'): Promise<readonly string[]> {
    const { status, names } = await this.get(path);
    expect(status).to.equal(200);
    return names!;
  }
}

/** The target of `Link: <…>; rel="next"`, relative to the path of the service; `undefined` if there is none. */
export function nextPage({ headers }: HttpResponse): string | undefined {
  const link = headers.link as string | undefined;
  if (link === undefined) return undefined;
  return /^<[^?>]*(\/plants\?[^>]+)>; rel="next"$/.exec(link)![1];
}

/** Sends until the response is not 503. Resolves with the time that took, in ms. */
export async function untilServed(send: () => Promise<HttpResponse>): Promise<number> {
  const start = performance.now();
  await until(async () => (await send()).status !== 503);
  return performance.now() - start;
}

/** The time within which the service must serve after Redis is back. */
export const SERVES_WITHIN_MS = 2000;

/** Sends until it is served, which must happen within {@link SERVES_WITHIN_MS}. */
export async function servedInTime(send: () => Promise<HttpResponse>, when = ''): Promise<void> {
  expect(await untilServed(send), `until served, in ms ${when}`).to.be.below(patient(SERVES_WITHIN_MS));
}
