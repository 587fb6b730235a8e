import { type IncomingHttpHeaders, request } from 'node:http';
import { expect } from 'chai';
import { PROBLEMS } from '../../../src/adapters/http/problems';
import { expectDocumented } from '../../support/documented';

export interface Message {
  readonly method?: string;
  /** Sent as it stands, without any normalization. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Several pieces are sent as chunks, without Content-Length. */
  readonly body?: string | Uint8Array | readonly (string | Uint8Array)[];
}

export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  /** The number of an error answer. */
  readonly error: number | undefined;
  readonly message: string;
}

/** One exchange over real HTTP. Whatever the answer, it is held to what all answers promise, and to the OpenAPI document. */
export async function exchange(url: string, message: Message): Promise<Answer> {
  const { method = 'GET', path, headers = {}, body } = message;
  const { hostname, port } = new URL(url);
  const answer = await new Promise<Answer>((resolve, reject) => {
    const sent = request({ hostname, port, method, path, headers: { ...headers } }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('error', reject);
      response.on('end', () => {
        const text = Buffer.concat(chunks).toString('utf8');
        resolve({
          status: response.statusCode!,
          headers: response.headers,
          text,
          ...errorOf(response.statusCode!, text),
        });
      });
    });
    sent.on('error', reject);
    if (body === undefined) sent.end();
    else if (typeof body === 'string' || body instanceof Uint8Array) sent.end(body);
    else {
      for (const piece of body) sent.write(piece);
      sent.end();
    }
  });
  expectPromisesOfEveryAnswer(answer, method);
  const fields = new Map(Object.entries(answer.headers).map(([name, value]) => [name, String(value)]));
  expectDocumented({ method, target: path }, { status: answer.status, fields, body: answer.text });
  return answer;
}

function errorOf(status: number, text: string): { error: number | undefined; message: string } {
  if (status < 400 || text === '') return { error: undefined, message: '' };
  const { error, message } = JSON.parse(text) as { error: number; message: string };
  return { error, message };
}

const CATALOGUE = Object.values(PROBLEMS).map(({ status, error }) => `${status} ${error}`);

function expectPromisesOfEveryAnswer({ status, headers, text, message }: Answer, method: string): void {
  expect(headers['x-content-type-options']).to.equal('nosniff');
  expect(headers['x-request-id']).to.match(/^[\w.-]{1,64}$/);
  expect(headers).not.to.have.property('x-powered-by');
  expect(headers).not.to.have.property('server');
  if (status >= 400 && method !== 'HEAD') {
    expect(headers['content-type']).to.equal('application/json');
    const body = JSON.parse(text) as Record<string, unknown>;
    expect(Object.keys(body)).to.deep.equal(['error', 'message']);
    expect(CATALOGUE).to.include(`${status} ${String(body['error'])}`);
    expect(message).to.be.a('string').that.is.not.empty;
  }
  if (status === 429 || status === 503) expect(headers['retry-after']).to.match(/^[0-9]+$/);
}
