/**
 * Bytes on one connection, the responses to them, and the log of both. The raw client checks each
 * response against the OpenAPI document.
 */
import { expect } from 'chai';
import { userNames } from '../../../../src/service/log';
import { RawSocket, errorOf } from '../../../support/raw-socket';
import { AUTH, END, HOST, JSON_TYPE, LIST, create, request } from '../../../support/requests';
import { served } from '../../../support/served';
import { until } from '../../../support/until';
import { tokenOf } from '../../../support/token';
import { type WatchedService, startWatched } from '../../../support/watched-service';

const BODY_LIMIT = 1000;
/** Found in any text, escaped or not. */
const MARK = 'Canary7';
const GET = 'GET /plants HTTP/1.1\r\n';
const POST = `POST /plants HTTP/1.1\r\n${HOST}${AUTH}${JSON_TYPE}`;
const PLANT = '{"id":9,"name":"Fern"}';
const CHUNKED = 'Transfer-Encoding: chunked\r\n';
const IN_CHUNKS = `\r\n16\r\n${PLANT}\r\n0\r\n\r\n`;
const LENGTH = 'Content-Length: 22\r\n';
const CONTINUE = 'Expect: 100-continue\r\n';
const field = (line: string) => request('GET', '/plants', `${line}\r\n`);
const get = (target: string) => request('GET', target);
const post = (body: string, fields = '') => request('POST', '/plants', fields, body);
const old = (bytes: string) => bytes.replace('HTTP/1.1', 'HTTP/1.0');
const expecting = post(PLANT, CONTINUE).slice(0, -PLANT.length);
const remove = request('DELETE', '/plants/9');
const CHUNKED_DELETE = request('DELETE', '/plants/9', CHUNKED);

/** The bytes, perhaps in several packets. */
type Sent = string | readonly string[];
/** The outcomes are the errors of the responses, or the status of one that has no error. */
type Row = readonly [Sent, ...outcomes: number[]];

/** After the last response the connection is closed, and a later request is not executed. */
const CLOSED: Readonly<Record<string, Row>> = {
  'a request without Host': [GET + AUTH + END, 40000],
  'two Host fields': [GET + HOST + HOST + AUTH + END, 40000],
  'a Host that is not a host': [LIST.replace(HOST, `Host: ${MARK} b/c\r\n`), 40000],
  'two Authorization fields': [GET + HOST + AUTH + AUTH + END, 40000],
  'two Content-Type fields': [`${POST}${JSON_TYPE}${LENGTH}\r\n${PLANT}`, 40000],
  'two different Content-Length fields': [
    `${POST}${LENGTH}Content-Length: 5\r\n\r\n${PLANT}`,
    40000,
  ],
  'Content-Length before Transfer-Encoding': [POST + LENGTH + CHUNKED + IN_CHUNKS, 40000],
  'Transfer-Encoding before Content-Length': [POST + CHUNKED + LENGTH + IN_CHUNKS, 40000],
  'Transfer-Encoding: gzip, chunked': [field(`Transfer-Encoding: ${MARK}, chunked`), 40000],
  'Transfer-Encoding in HTTP/1.0': [old(POST) + CHUNKED + IN_CHUNKS, 40000],
  'a space before the colon': [field(`${MARK} : a`), 40000],
  'a bare LF after a header line': [`${GET}Host: a\n${AUTH}${END}`, 40000],
  'a chunk size that ends in a bare LF': [`${POST}${CHUNKED}\r\n16\n${PLANT}\r\n0\r\n\r\n`, 40000],
  'a malformed trailer': [
    POST + CHUNKED + IN_CHUNKS.replace(/\r\n$/, 'bad trailer: 1\r\n\r\n'),
    40000,
  ],
  'a malformed chunk of a DELETE': [`${CHUNKED_DELETE}zz\r\n`, 40000],
  'bytes that are not HTTP': [`\0\x01\x02 ${MARK}\r\n\r\n`, 40000],
  'the preface of HTTP/2': ['PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 40000],
  'HTTP/0.9': ['GET /plants\r\n\r\n', 40000],
  'HTTP/2.0 in the request line': [LIST.replace('HTTP/1.1', 'HTTP/2.0'), 40000],
  'a target with another scheme': [get(`ftp://${MARK}.example/plants`), 40000],
  'a target with a malformed authority': [get('http://[::1/plants'), 40000],
  'an absolute URL with a fragment': [get('http://plants.example/plants#first'), 40000],
  'a target with a fragment': [get('/plants#first'), 40000],
  'an unknown expectation': [`${POST}Expect: ${MARK}\r\n${LENGTH}\r\n${PLANT}`, 40000],
  'a malformed request after valid ones': [
    create(9) + remove + GET + HOST + HOST + END,
    200,
    204,
    40000,
  ],

  CONNECT: [request('CONNECT', 'plants.example:443'), 40500],
  'an unknown method': [request(MARK.toUpperCase(), '/plants'), 40500],
  'an unknown method at the path of a plant': [request('FLOURISH', '/plants/1?x'), 40500],
  'an unknown method at an unknown path': [request('FLOURISH', '/nothing'), 40500],
  'an unknown method with an absolute URL': [
    request('FLOURISH', 'http://plants.example/plants?x'),
    40500,
  ],
  'a method of another protocol': [request('DESCRIBE', '/plants'), 40500],
  'an unknown method after another request': [[LIST, request('FLOURISH', '/plants')], 200, 40500],

  'a header field of 17 KB': [field(`X-Large: ${'x'.repeat(17_000)}`), 43100],
  'more than 100 header fields': [request('GET', '/plants', 'X-Small: x\r\n'.repeat(99)), 43100],
  'a Content-Length over the limit': [`${POST}Content-Length: ${BODY_LIMIT + 1}\r\n\r\n`, 41300],
  'chunks over the limit': [`${POST}${CHUNKED}\r\n3e9\r\n${'x'.repeat(1001)}`, 41300],
  'chunks with long extensions': [`${POST}${CHUNKED}\r\n1;${'x'.repeat(20_000)}`, 41300],
  'chunks over the limit in a DELETE': [`${CHUNKED_DELETE}3e9\r\n${'x'.repeat(1001)}`, 41300],

  'Connection: close': [
    create(9) + remove.replace(END, `${END}Connection: close\r\n`) + create(8),
    200,
    204,
  ],
  'an upgrade to a WebSocket': [
    field('Connection: Upgrade\r\nUpgrade: websocket') + create(8),
    200,
  ],
  'HTTP/1.0': [old(LIST).replace(HOST, ''), 200],
  'an unknown expectation in HTTP/1.0, which is ignored': [
    old(request('GET', '/plants', 'Expect: more\r\n')),
    200,
  ],
  'Expect: 100-continue without credentials': [expecting.replace(AUTH, ''), 40100],
  'Expect: 100-continue with a large body': [
    expecting.replace(LENGTH, 'Content-Length: 100000\r\n'),
    41300,
  ],
};

/** The connection stays open after the last response. */
const KEPT: Readonly<Record<string, Row>> = {
  'pipelined requests': [create(9) + LIST + remove + LIST, 200, 200, 204, 200],
  'HTTP/1.0 with keep-alive': [old(LIST).replace(AUTH, `${AUTH}Connection: keep-alive\r\n`), 200],
  'an absolute URL': [get(`http://${MARK}.example/plants`), 200],
  'an absolute URL in capitals': [get('HTTPS://PLANTS.EXAMPLE/plants'), 200],
  'an absolute URL with an IPv6 address': [get('http://[::1]:3000/plants?limit=0'), 200],
  'a malformed unknown parameter': [get(`/plants?%zz${MARK}=%zz`), 200],
  'a slash in the query of a DELETE': [create(9) + request('DELETE', '/plants/9?x/y'), 200, 204],
  'the target *': [get('*'), 40400],
  'an unknown path': [get(`/${MARK}`), 40400],
  'a malformed id': [request('DELETE', `/plants/${MARK}`), 40005],
  'a malformed limit': [get(`/plants?limit=${MARK}`), 40004],
  'the header fields of a browser': [
    field(`X-${MARK}: 1\r\nOrigin: https://${MARK}.example\r\nCookie: ${MARK}=1`),
    200,
  ],
  'a malformed request ID': [field(`X-Request-Id: ${MARK} {}`), 200],
  'an unknown token': [LIST.replace(tokenOf('alice'), MARK), 40101],
  'an unknown content encoding': [post('{}', `Content-Encoding: ${MARK}\r\n`), 41500],
  'a chunk extension': [`${POST}${CHUNKED}\r\n2;${MARK}=${MARK}\r\n{}\r\n0\r\n\r\n`, 40002],
  'a trailer': [`${POST}${CHUNKED}\r\n2\r\n{}\r\n0\r\n${MARK}: ${MARK}\r\n\r\n`, 40002],
  'malformed JSON': [post(`{"id":1,"name":"${MARK}`), 40001],
  'a name that is not a string': [post(`{"id":1,"name":["${MARK}"]}`), 40002],
  'an id that is taken': [post(`{"id":1,"name":"${MARK}"}`), 40003],
  '100 header fields': [request('GET', '/plants', 'X-Small: x\r\n'.repeat(98)), 200],
  'a header field of 15 KiB': [field(`X-Large: ${'x'.repeat(15 * 1024)}`), 200],
  'a GET with a body of any length': [
    request('GET', '/plants', '', 'x'.repeat(3 * BODY_LIMIT)),
    200,
  ],
  'a DELETE with a body of the maximum size': [
    `${CHUNKED_DELETE}3e8\r\n${'x'.repeat(BODY_LIMIT)}\r\n0\r\n\r\n`,
    40401,
  ],
  'Expect: 100-continue': [[expecting, PLANT, remove], 100, 200, 204],
  'Expect: 100-continue in a DELETE': [
    [CHUNKED_DELETE.replace(HOST, HOST + CONTINUE), '0\r\n\r\n'],
    100,
    40401,
  ],
};

for (const [how, bytes] of Object.entries({
  '': create(1),
  ' (parsed in turns, because of many pipelined requests)': create(1).repeat(50),
}))
  describe(`The responses${how} to`, () => {
    let service: WatchedService;
    before(async () => {
      service = await startWatched({ BODY_LIMIT: String(BODY_LIMIT) });
      await exchange([bytes], bytes.length / create(1).length);
    });
    after(() => service.stop());

    /**
     * Sends packets, each after a response to the one before it. Resolves once all responses are
     * logged.
     */
    async function exchange(packets: readonly string[], count: number) {
      const before = service.log.length;
      const client = await RawSocket.open(service.url);
      const answers = [];
      for (const packet of packets.slice(0, -1)) answers.push(await client.send(packet).answer());
      client.send(packets.at(-1)!);
      while (answers.length < count) answers.push(await client.answer());
      const { fields } = answers.at(-1)!;
      if (fields.get('connection') === 'close')
        expect(await client.send(create(8)).answers()).to.deep.equal({
          answers: [],
          ending: 'end',
        });
      client.reset();
      const final = answers.filter(({ status }) => status >= 200);
      await until(() => service.log.length >= before + final.length);
      const log = service.log.slice(before);
      expect(log).to.have.length(final.length);
      return { answers, fields, log };
    }

    for (const [table, connection, ends] of [
      [CLOSED, 'close', 'closed'],
      [KEPT, 'keep-alive', 'kept open'],
    ] as const)
      for (const [what, [sent, ...outcomes]] of Object.entries(table))
        it(`${what} are ${outcomes.join(', ')}, and the connection is ${ends}`, async () => {
          const { answers, fields, log } = await exchange([sent].flat(), outcomes.length);
          const found = answers.map((each) => (each.status < 400 ? each.status : errorOf(each)));
          expect(found).to.deep.equal(outcomes);
          expect(fields.get('connection')).to.equal(connection);

          // Nothing of the input comes back, but the path of a 404 in the log: it helps to find the
          // client.
          const logged = log.map((line) => line.replace(/("status":404.*)?"path":"[^"]*",/, '$1'));
          const said = [
            ...answers.map((each) => [...each.fields].join() + each.body.toString()),
            ...logged,
          ];
          expect(said.join().toLowerCase()).not.to.contain(MARK.toLowerCase());
          const [list] = (await exchange([LIST], 1)).answers;
          expect(list!.body.toString()).to.equal('[{"name":"Fern"}]');
        });
  });

describe('The log of requests', () => {
  const edge = served();
  /** The lines of these requests. */
  async function logOf(...requests: readonly string[]) {
    type Line = Readonly<Record<string, string | number>>;
    const all = () => edge().service.log.map((line) => JSON.parse(line) as Line);
    const lines = () => all().filter(({ msg }) => msg === 'request');
    for (const [index, bytes] of requests.entries()) {
      await edge().ask(bytes);
      await until(() => lines().length > index);
    }
    return lines();
  }

  it('contains level, route, status, error and reason of each request, and the user if it is known', async () => {
    const since = performance.now();
    const token = (value: string) => LIST.replace(/Bearer .*/, value);
    const rows = {
      [request('DELETE', '/plants/17', 'X-Request-Id: mine\r\n')]:
        'info alice 404 /plants/:id 40401',
      [get('/plants?limit=1')]: 'info alice 200 /plants',
      [get('/')]: 'info 200 /',
      [get('/health/live')]: 'debug 200 /health/live',
      [get('/health/ready')]: 'debug 200 /health/ready',
      [get('/metrics')]: 'debug 200 /metrics',
      [get('/nowhere?secret=1')]: 'info 404 40400',
      [get('/plants?limit=x')]: 'info alice 400 /plants 40004',
      [token('Basic YTpi')]: 'info 401 40100 no_token',
      [token('Bearer  ')]: 'info 401 40101 token_malformed',
      [token('Bearer another')]: 'info 401 40101 token_unknown',
      [request('PUT', '/plants')]: 'info alice 405 40500',
      'no HTTP\r\n\r\n': 'info 400 40000',
    };
    const lines = await logOf(...Object.keys(rows));
    const nameOf = userNames();
    const found = lines.map(({ level, user, status, route, error, reason }) => {
      const who = user === nameOf('alice') ? 'alice' : user;
      const said = [level === 20 ? 'debug' : 'info', who, status, route, error, reason];
      return said.filter((each) => each !== undefined).join(' ');
    });
    expect(found).to.deep.equal(Object.values(rows));
    expect(lines[0]).to.include({ requestId: 'mine', method: 'DELETE' });
    expect(lines[0]!.durationMs).to.be.within(0, performance.now() - since);
    expect(lines[6]).to.include({ path: '/nowhere' });
  });

  it('contains the traceparent of a request only if it is well-formed', async () => {
    const TRACE = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';
    const zeros = TRACE.replace(/4b\w+/, '0'.repeat(32));
    const malformed = [
      TRACE.toUpperCase(),
      `${TRACE}-01`,
      TRACE.slice(1),
      `ff${TRACE.slice(2)}`,
      zeros,
    ];
    const lines = await logOf(
      ...malformed.concat(TRACE).map((value) => field(`traceparent: ${value}`)),
    );
    const found = lines.map(({ traceparent }) => traceparent);
    expect(found).to.deep.equal([...malformed.map(() => undefined), TRACE]);
  });
});
