/** Bytes on one connection, and the responses to them. The raw client checks each response against the OpenAPI document. */
import { expect } from 'chai';
import { errorOf } from '../../../support/http-answer';
import { RawSocket } from '../../../support/raw-socket';
import { AUTH, END, HOST, JSON_TYPE, LIST, create, request } from '../../../support/requests';
import { requireClean } from '../../../support/suite-log';
import { until } from '../../../support/until';
import { TOKENS, type WatchedService, startWatched } from '../../../support/watched-service';

const BODY_LIMIT = 1000;
/** Found in any text, escaped or not. */
const MARK = 'Canary7';
const GET = 'GET /plants HTTP/1.1\r\n';
const POST = `POST /plants HTTP/1.1\r\n${HOST}${AUTH}${JSON_TYPE}`;
const OLD = LIST.replace('HTTP/1.1', 'HTTP/1.0').replace(HOST, '');
const PLANT = '{"id":9,"name":"Fern"}';
const CHUNKED = 'Transfer-Encoding: chunked\r\n';
const LENGTH = 'Content-Length: 22\r\n';
const CONTINUE = 'Expect: 100-continue\r\n';
const field = (line: string) => request('GET', '/plants', `${line}\r\n`);
const post = (body: string, fields = '') => request('POST', '/plants', fields, body);
const expecting = request('POST', '/plants', CONTINUE, PLANT).slice(0, -PLANT.length);
const remove = request('DELETE', '/plants/9');

/** The bytes, perhaps in several packets. */
type Sent = string | Buffer | readonly string[];
/** In order, the errors of the responses, or the statuses of those that are none. */
type Row = readonly [Sent, ...outcomes: number[]];

/** After the last response the connection is closed, and later bytes are not executed. */
const CLOSED: Readonly<Record<string, Row>> = {
  'no Host': [GET + AUTH + END, 40000],
  'two Hosts': [GET + HOST + HOST + AUTH + END, 40000],
  'a Host that is not a host': [LIST.replace(HOST, `Host: ${MARK} b/c\r\n`), 40000],
  'two Authorizations': [GET + HOST + AUTH + AUTH + END, 40000],
  'two Content-Types': [`${POST}${JSON_TYPE}${LENGTH}\r\n${PLANT}`, 40000],
  'two equal Content-Lengths': [`${POST}${LENGTH}${LENGTH}\r\n${PLANT}`, 40000],
  'two different Content-Lengths': [`${POST}${LENGTH}Content-Length: 5\r\n\r\n${PLANT}`, 40000],
  'a list of Content-Lengths': [`${POST}Content-Length: 22, 22\r\n\r\n${PLANT}`, 40000],
  'Content-Length with Transfer-Encoding': [
    `${POST}${LENGTH}${CHUNKED}\r\n16\r\n${PLANT}\r\n0\r\n\r\n`,
    40000,
  ],
  'Transfer-Encoding with Content-Length': [
    `${POST}${CHUNKED}${LENGTH}\r\n16\r\n${PLANT}\r\n0\r\n\r\n`,
    40000,
  ],
  'Content-Length: -1': [`${POST}Content-Length: -1\r\n\r\n`, 40000],
  'Content-Length: +5': [`${POST}Content-Length: +5\r\n\r\n12345`, 40000],
  'Content-Length: 0x16': [`${POST}Content-Length: 0x16\r\n\r\n${PLANT}`, 40000],
  'Content-Length without a value': [`${POST}Content-Length:\r\n\r\n`, 40000],
  'Content-Length of a word': [`${POST}Content-Length: ${MARK}\r\n\r\n`, 40000],
  'a Content-Length beyond 64 bits': [`${POST}Content-Length: 99999999999999999999\r\n\r\n`, 40000],
  'Transfer-Encoding: xchunked': [`${POST}Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n`, 40000],
  'Transfer-Encoding: identity': [`${POST}Transfer-Encoding: identity\r\n\r\n`, 40000],
  'Transfer-Encoding: gzip, chunked': [field(`Transfer-Encoding: ${MARK}, chunked`), 40000],
  'Transfer-Encoding: chunked, gzip': [`${POST}Transfer-Encoding: chunked, gzip\r\n\r\n`, 40000],
  'Transfer-Encoding: chunked, twice': [`${POST}${CHUNKED}${CHUNKED}\r\n16\r\n${PLANT}\r\n0\r\n\r\n`, 40000],
  'Transfer-Encoding in HTTP/1.0': [
    `${POST.replace('1.1', '1.0')}${CHUNKED}\r\n16\r\n${PLANT}\r\n0\r\n\r\n`,
    40000,
  ],
  'a folded header line': [field('X-Long: a\r\n b'), 40000],
  'a space before the colon': [field(`${MARK} : a`), 40000],
  'a header line without a colon': [field('nothing'), 40000],
  'a header line without a name': [field(': nothing'), 40000],
  'NUL in a header field': [field('X-Nul: a\0b'), 40000],
  'a bare LF after the request line': [`GET /plants HTTP/1.1\n${HOST}${AUTH}${END}`, 40000],
  'a bare LF after a header line': [`${GET}Host: a\n${AUTH}${END}`, 40000],
  'a bare LF at the end': [`${GET}${HOST}${AUTH}\n`, 40000],
  'a bare CR in a header line': [`${GET}Host: a\rX-Smuggled: b\r\n${AUTH}${END}`, 40000],
  'a chunk size that is not a number': [`${POST}${CHUNKED}\r\n${MARK}\r\n`, 40000],
  'a chunk that is longer than its size': [`${POST}${CHUNKED}\r\n2\r\n${PLANT}\r\n0\r\n\r\n`, 40000],
  'a chunk size that ends in a bare LF': [`${POST}${CHUNKED}\r\n16\n${PLANT}\r\n0\r\n\r\n`, 40000],
  'a malformed trailer': [`${POST}${CHUNKED}\r\n16\r\n${PLANT}\r\n0\r\nbad trailer: 1\r\n\r\n`, 40000],
  'a malformed chunk of a DELETE': [`${request('DELETE', '/plants/1', CHUNKED)}zz\r\n`, 40000],
  garbage: [`\0\x01\x02 ${MARK}\r\n\r\n`, 40000],
  'words that are not a request line': ['hello there\r\n\r\n', 40000],
  'a TLS hello': [Buffer.from('160301005a0100005603036d7933c7', 'hex'), 40000],
  'the preface of HTTP/2': ['PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 40000],
  'HTTP/0.9': ['GET /plants\r\n\r\n', 40000],
  'HTTP/2.0 in the request line': [LIST.replace('HTTP/1.1', 'HTTP/2.0'), 40000],
  'HTTP/1.2': [LIST.replace('HTTP/1.1', 'HTTP/1.2'), 40000],
  'HTTP/0.9 in the request line': [LIST.replace('HTTP/1.1', 'HTTP/0.9'), 40000],
  'RTSP/2.0': [`OPTIONS * RTSP/2.0\r\n${HOST}${AUTH}${END}`, 40000],
  'another protocol': [LIST.replace('HTTP/1.1', `${MARK}/1.1`), 40000],
  'a target that is neither path nor URL': [request('GET', 'plants'), 40000],
  'a target of another scheme': [request('GET', `ftp://${MARK}.example/plants`), 40000],
  'a target with a malformed authority': [request('GET', 'http://[::1/plants'), 40000],
  'a target with a fragment': [request('GET', '/plants#first'), 40000],
  'a target in bytes beyond ASCII': [request('GET', '/plants\xa0'), 40000],
  'an expectation that cannot be met': [`${POST}Expect: ${MARK}\r\n${LENGTH}\r\n${PLANT}`, 40000],
  'a request behind answered ones': [
    create(9) + remove + GET + HOST + HOST + END + create(8),
    200,
    204,
    40000,
  ],
  'garbage behind an answered request': [[LIST, `\0${MARK}`], 200, 40000],

  CONNECT: [request('CONNECT', 'plants.example:443'), 40500],
  'an unknown method': [request(MARK.toUpperCase(), '/plants'), 40500],
  'a method in lower case': [request('get', '/plants'), 40500],
  'a method that starts with a known one': [request('GETS', '/plants'), 40500],
  'a method of special characters': [request('!#$', '/plants'), 40500],
  'a method of another protocol': [request('DESCRIBE', '/plants'), 40500],
  'an unknown method on a connection in use': [[LIST, request('FLOURISH', '/plants')], 200, 40500],
  'an unknown method without a target': [[LIST, 'FLOURISH\r\n\r\n'], 200, 40000],

  'a header field of 17 KB': [field(`X-Large: ${'x'.repeat(17_000)}`), 43100],
  'many fields of 17 KB': [request('GET', '/plants', `X-Large: ${'x'.repeat(150)}\r\n`.repeat(99)), 43100],
  'a target of 17 KB': [request('GET', `/plants?${'x'.repeat(17_000)}`), 43100],
  'more than 100 header fields': [request('GET', '/plants', 'X-Small: x\r\n'.repeat(99)), 43100],
  'a Content-Length over the limit': [`${POST}Content-Length: ${BODY_LIMIT + 1}\r\n\r\n`, 41300],
  'a Content-Length that is no safe integer': [`${POST}Content-Length: 9007199254740993\r\n\r\n`, 41300],
  'chunks over the limit': [`${POST}${CHUNKED}\r\n3e9\r\n${'x'.repeat(1001)}`, 41300],
  'chunks with long extensions': [`${POST}${CHUNKED}\r\n1;${'x'.repeat(20_000)}`, 41300],
  'an ignored body over the limit': [
    request('DELETE', '/plants/1', `Content-Length: ${BODY_LIMIT + 1}\r\n`),
    41300,
  ],
  'ignored chunks over the limit': [
    request('DELETE', '/plants/1', CHUNKED) + `3e9\r\n${'x'.repeat(1001)}`,
    41300,
  ],

  'Connection: close': [create(9) + remove.replace(END, `${END}Connection: close\r\n`) + create(8), 200, 204],
  'a response that closes, behind another one': [
    LIST + expecting.replace(AUTH, '') + PLANT + create(8),
    200,
    40100,
  ],
  'an upgrade to a WebSocket': [field('Connection: Upgrade\r\nUpgrade: websocket') + create(8) + LIST, 200],
  'an upgrade to HTTP/2': [field('Connection: Upgrade\r\nUpgrade: h2c') + create(8), 200],
  'an upgrade to TLS': [field('Connection: Upgrade\r\nUpgrade: TLS/1.0') + create(8), 200],
  'HTTP/1.0': [OLD, 200],
  'an expectation in HTTP/1.0, which is ignored': [
    request('GET', '/plants', CONTINUE).replace('HTTP/1.1', 'HTTP/1.0'),
    200,
  ],
  'an expectation without credentials': [expecting.replace(AUTH, ''), 40100],
  'an expectation of a large body': [expecting.replace(LENGTH, 'Content-Length: 100000\r\n'), 41300],
  'an expectation of another type': [expecting.replace('application/json', `application/${MARK}`), 41500],
  'an expectation of a method without a body': [expecting.replace('POST', 'PUT'), 40500],
};

/** The connection stays open after the last response. */
const KEPT: Readonly<Record<string, Row>> = {
  'several requests at once': [create(9) + LIST + remove + LIST, 200, 200, 204, 200],
  'HTTP/1.0 with keep-alive': [OLD.replace(AUTH, `${AUTH}Connection: keep-alive\r\n`), 200],
  'a URL': [request('GET', `http://${MARK}.example/plants`), 200],
  'a URL in capitals, with a port': [request('GET', 'HTTPS://PLANTS.EXAMPLE:8443/plants'), 200],
  'a URL with an address': [request('GET', 'http://[::1]:3000/plants?limit=0'), 200],
  'a URL without a path': [request('GET', 'http://plants.example'), 200],
  'a URL with a query only': [request('GET', 'http://plants.example?limit=1'), 200],
  'a URL of nothing': [request('GET', 'http://plants.example/nothing?limit=1'), 40400],
  'a malformed parameter that is unknown': [request('GET', `/plants?%zz${MARK}=%zz`), 200],
  'a URL as a query of an id': [create(9) + request('DELETE', '/plants/9?x/y'), 200, 204],
  'the target *': [request('GET', '*'), 40400],
  'a path with a query': [request('GET', '/plants/?limit=1'), 40400],
  'an escaped path': [request('GET', '/plants%2F'), 40400],
  'a path with dots': [request('GET', '/plants/..'), 40500],
  'a path with a parameter': [request('GET', '/plants;v=1'), 40400],
  'a backslash': [request('GET', '/plants\\'), 40400],
  'an unknown path': [request('GET', `/${MARK}`), 40400],
  'a malformed path': [request('GET', `/%zz${MARK}`), 40400],
  'a path below a plant': [request('GET', `/plants/1/${MARK}`), 40400],
  'a malformed id': [request('DELETE', `/plants/${MARK}`), 40005],
  'a malformed limit': [request('GET', `/plants?limit=${MARK}`), 40004],
  'a limit of NUL': [request('GET', '/plants?limit=%00'), 40004],
  'a list of limits': [request('GET', `/plants?limit[${MARK}]=1`), 40004],
  'a malformed cursor': [request('GET', `/plants?cursor=${MARK}`), 40004],
  'the fields of a browser': [
    field(`X-${MARK}: 1\r\nUser-Agent: ${MARK}\r\nReferer: ${MARK}\r\nCookie: ${MARK}=1`),
    200,
  ],
  'the preflight of a browser': [
    `OPTIONS /plants HTTP/1.1\r\n${HOST}Origin: https://${MARK}.example\r\nAccess-Control-Request-Method: POST\r\n\r\n`,
    40100,
  ],
  'a malformed request id': [field(`X-Request-Id: ${MARK} {}`), 200],
  'an entity tag': [field(`If-None-Match: "${MARK}"`), 200],
  'another scheme of credentials': [LIST.replace('Bearer', MARK), 40100],
  'an unknown token': [LIST.replace(TOKENS.alice, MARK), 40101],
  'a malformed token': [LIST.replace(TOKENS.alice, `${MARK} "`), 40101],
  'another charset': [post('{}').replace('application/json', `application/json; charset=${MARK}`), 41500],
  'another encoding': [post('{}', `Content-Encoding: ${MARK}\r\n`), 41500],
  'the extension of a chunk': [`${POST}${CHUNKED}\r\n2;${MARK}=${MARK}\r\n{}\r\n0\r\n\r\n`, 40002],
  'a trailer': [`${POST}${CHUNKED}\r\n2\r\n{}\r\n0\r\n${MARK}: ${MARK}\r\n\r\n`, 40002],
  'a POST without a body': [`${POST}\r\n`, 40001],
  'a body that is not JSON': [post(MARK), 40001],
  'malformed JSON': [post(`{"id":1,"name":"${MARK}`), 40001],
  'a member twice': [post(`{"${MARK}":1,"${MARK}":2}`), 40001],
  'bytes that are not UTF-8': [post(`{"id":2,"name":"${MARK}\xff"}`), 40001],
  'a body that is no object': [post(`["${MARK}"]`), 40002],
  'unknown members only': [post(`{"${MARK}":1,"__proto__":{"${MARK}":1}}`), 40002],
  'an id that is no number': [post(`{"id":"${MARK}","name":"Fern"}`), 40002],
  'a name that is not a string': [post(`{"id":1,"name":["${MARK}"]}`), 40002],
  'a tag that is not a string': [post(`{"id":2,"name":"Fern","tag":{"${MARK}":1}}`), 40002],
  'a lone surrogate': [post(`{"id":2,"name":"${MARK}\\ud800"}`), 40002],
  'an id that is taken': [post(`{"id":1,"name":"${MARK}"}`), 40003],
  '100 header fields': [request('GET', '/plants', 'X-Small: x\r\n'.repeat(98)), 200],
  'a header field of 15 KiB': [field(`X-Large: ${'x'.repeat(15 * 1024)}`), 200],
  'an ignored body of the limit': [
    [create(9), `${request('DELETE', '/plants/9', CHUNKED)}3e8\r\n${'x'.repeat(BODY_LIMIT)}\r\n0\r\n\r\n`],
    200,
    204,
  ],
  'an expectation': [[expecting, PLANT, remove], 100, 200, 204],
  'an expectation of a DELETE': [
    [request('DELETE', '/plants/9', `${CONTINUE}Content-Length: 3\r\n`), 'xyz'],
    100,
    40401,
  ],
};

describe('The responses to', () => {
  let service: WatchedService;

  before(async () => {
    service = await startWatched({ BODY_LIMIT: String(BODY_LIMIT) });
    const client = await RawSocket.open(service.url);
    await client.send(create(1)).answer();
    client.reset();
    await until(() => service.log.some((line) => line.includes('"/plants"')));
  });
  after(() => service.stop());

  for (const [table, closes] of [
    [CLOSED, true],
    [KEPT, false],
  ] as const)
    for (const [what, [sent, ...outcomes]] of Object.entries(table))
      it(`${what} are ${outcomes.join()}${closes ? ', and the connection is closed' : ''}`, async () => {
        const before = service.log.length;
        const client = await RawSocket.open(service.url);
        const answers = [];
        const packets = [sent].flat();
        for (const packet of packets.slice(0, -1)) answers.push(await client.send(packet).answer());
        client.send(packets.at(-1)!);
        while (answers.length < outcomes.length) answers.push(await client.answer());

        expect(answers.map((each) => (each.status < 400 ? each.status : errorOf(each)))).to.deep.equal(
          outcomes,
        );
        const { fields } = answers.at(-1)!;
        if (closes) {
          expect(fields.get('connection')).to.equal('close');
          expect(await client.answers()).to.deep.equal({ answers: [], ending: 'end' });
        }
        client.reset();

        // Nothing of the input comes back, but the path of a 404 in the log: it helps to find the client.
        const all = answers.filter((each) => each.status >= 200);
        await until(() => service.log.length >= before + all.length);
        const log = service.log
          .slice(before)
          .map((line) => line.replace(/("status":404.*)?"path":"[^"]*",/, '$1'));
        expect(log).to.have.length(all.length);
        const said = all
          .map((each) => [...each.fields].join() + each.body.toString())
          .concat(log)
          .join();
        expect(said.toLowerCase()).not.to.contain(MARK.toLowerCase());
        for (const name of ['upgrade', 'access-control-allow-origin'])
          expect(fields.has(name)).to.equal(false);
        expect(await names()).to.equal('[{"name":"Fern"}]');
      });

  async function names(): Promise<string> {
    const client = await RawSocket.open(service.url);
    const { length } = service.log;
    const { body } = await client.send(LIST).answer();
    client.reset();
    await until(() => service.log.length > length);
    return body.toString();
  }
});

describe('The check of the log', () => {
  it('refuses tokens and lines that are not one JSON object', () => {
    requireClean('{"msg":"request"}\n');
    for (const line of [
      `{"msg":"${TOKENS.bob}"}\n`,
      '{"msg":"two\nlines"}\n',
      '{"msg":"a\x1b[31m"}\n',
      'plain\n',
    ])
      expect(() => requireClean(line), line).to.throw();
  });
});
