import { expect } from 'chai';
import type { Answer } from '../../../support/http-answer';
import { RawSocket } from '../../../support/raw-socket';
import { AUTH, END, HOST, LIST, create, request } from '../../../support/requests';
import { SlowStore } from '../../../support/slow-store';
import { type WatchedService, startWatched } from '../../../support/watched-service';

/** A request for every status that the service answers at once. */
const REQUESTS: readonly (readonly [status: number, bytes: string])[] = [
  [200, create(1)],
  [200, LIST],
  [204, request('DELETE', '/plants/1')],
  [204, request('OPTIONS', '/plants')],
  [304, request('GET', '/plants', 'If-None-Match: *\r\n')],
  [400, request('DELETE', '/plants/x')],
  [400, request('POST', '/plants', '', '{')],
  [400, 'garbage\r\n\r\n'],
  [400, `GET /plants HTTP/1.1\r\n${AUTH}${END}`],
  [401, LIST.replace(AUTH, '')],
  [401, LIST.replace(AUTH, 'Authorization: Bearer unknown\r\n')],
  [404, request('GET', '/nothing')],
  [404, request('DELETE', '/plants/9')],
  [405, request('PUT', '/plants')],
  [405, request('FLOURISH', '/plants')],
  [405, request('CONNECT', 'plants.example:443')],
  [413, request('POST', '/plants', 'Content-Type: application/json\r\nContent-Length: 70000\r\n')],
  [415, create(1).replace('application/json', 'text/json')],
  [431, request('GET', '/plants', `X-Large: ${'x'.repeat(20_000)}\r\n`)],
];

/** Incomplete, so the response is 408. */
const LATE = `GET /plants HTTP/1.1\r\n${HOST}`;

describe('every response', () => {
  let service: WatchedService;
  const answers: [status: number, answer: Answer][] = [];

  async function ask(bytes: string): Promise<Answer> {
    const client = await RawSocket.open(service.url);
    const answer = await client.send(bytes).answer();
    client.reset();
    return answer;
  }

  before(async () => {
    const store = new SlowStore();
    service = await startWatched(
      { REQUEST_TIMEOUT_MS: '3000', STORE_TIMEOUT_MS: '3000' },
      { eventStore: store },
    );
    for (const [status, bytes] of REQUESTS) answers.push([status, await ask(bytes)]);
    // All three time out at the same moment.
    store.delayMs = 3_600_000;
    const [list, creation, late] = await Promise.all([ask(LIST), ask(create(3)), ask(LATE)]);
    answers.push([503, list], [503, creation], [408, late]);
    store.delayMs = 0;
    store.read = () => Promise.reject(new Error('out of\nsorts'));
    answers.push([500, await ask(LIST)]);
  });
  after(() => service.stop());

  it('has the documented status', () => {
    expect(answers.map(([, { status }]) => status)).to.deep.equal(answers.map(([status]) => status));
  });

  it('has the documented header fields and no others, and none names the software of the service', () => {
    const names = new Set(answers.flatMap(([, { fields }]) => [...fields.keys()]));
    expect([...names]).to.have.members([
      'accept',
      'allow',
      'cache-control',
      'connection',
      'content-length',
      'content-type',
      'date',
      'etag',
      'keep-alive',
      'retry-after',
      'vary',
      'www-authenticate',
      'x-content-type-options',
      'x-request-id',
    ]);
    const words = answers.flatMap(([, { fields, body }]) => [...fields.values(), body.toString()]).join(' ');
    expect(words).to.not.match(/node|koa|express|ajv|pino|redis|llhttp|HPE_|\/src\/|\n/i);
  });

  it('has a unique X-Request-Id', () => {
    const ids = answers.map(([, { fields }]) => fields.get('x-request-id'));
    expect(new Set(ids).size).to.equal(answers.length);
  });

  it('has a log line with its X-Request-Id and status', () => {
    const logged = service.log.map((line) => JSON.parse(line) as { requestId?: string; status?: number });
    for (const [status, { fields }] of answers) {
      const lines = logged.filter(({ requestId }) => requestId === fields.get('x-request-id'));
      expect(lines.map((line) => line.status)).to.deep.equal([status]);
    }
  });

  for (const id of ['7', 'a'.repeat(64), 'Ab9._-']) {
    it(`repeats the X-Request-Id of the request if it is well-formed and short: ${id}`, async () => {
      const { fields } = await ask(request('GET', '/', `X-Request-Id: ${id}\r\n`));
      expect(fields.get('x-request-id')).to.equal(id);
    });
  }

  for (const id of ['', 'a'.repeat(65), 'a b', 'a"b', 'a,b', 'é', '<script>', 'a\r\nX-Request-Id: b']) {
    it(`has a new X-Request-Id instead of ${JSON.stringify(id)}`, async () => {
      const { fields } = await ask(request('GET', '/', `X-Request-Id: ${id}\r\n`));
      expect(fields.get('x-request-id')).to.match(/^[\da-f]{8}-[\da-f-]{27}$/);
    });
  }
});
