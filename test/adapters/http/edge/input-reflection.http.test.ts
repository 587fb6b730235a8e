import { expect } from 'chai';
import { RawSocket } from '../../../support/raw-socket';
import { AUTH, END, HOST, JSON_TYPE, LIST, create, request } from '../../../support/requests';
import { requireClean } from '../../../support/suite-log';
import { until } from '../../../support/until';
import { TOKENS, type WatchedService, startWatched } from '../../../support/watched-service';

/** Found again wherever it turns up, escaped or not. */
const MARK = 'Canary7';
const CHUNKED = 'Transfer-Encoding: chunked\r\n';
const post = (body: string, fields = '') => request('POST', '/plants', fields, body);

/** Every place of a request into which a client can write. */
const PLACES: Readonly<Record<string, string>> = {
  'the method': request(MARK, '/plants'),
  'the path': request('GET', `/${MARK}`),
  'the path under /plants': request('DELETE', `/plants/${MARK}`),
  'the path of a plant that there is not': request('GET', `/plants/1/${MARK}`),
  'a malformed path': request('GET', `/%zz${MARK}`),
  limit: request('GET', `/plants?limit=${MARK}`),
  cursor: request('GET', `/plants?cursor=${MARK}`),
  'the name of a parameter': request('GET', `/plants?limit[${MARK}]=1`),
  'the authority of the target': request('GET', `http://${MARK}.example/plants`),
  'a malformed target': request('GET', `ftp://${MARK}/plants`),
  'the protocol': `GET / ${MARK}/1.1\r\n${HOST}${END}`,
  Host: LIST.replace(HOST, `Host: ${MARK}\r\n`),
  'a malformed Host': LIST.replace(HOST, `Host: ${MARK} /\r\n`),
  'the scheme of Authorization': LIST.replace('Bearer', MARK),
  'a token': LIST.replace(TOKENS.alice, MARK),
  'a malformed token': LIST.replace(TOKENS.alice, `${MARK} "`),
  'the name of a header field': request('GET', '/', `X-${MARK}: 1\r\n`),
  'a header field': request('GET', '/', `User-Agent: ${MARK}\r\nReferer: ${MARK}\r\nCookie: ${MARK}=1\r\n`),
  'a malformed header field': request('GET', '/', `${MARK} : 1\r\n`),
  'a malformed X-Request-Id': request('GET', '/', `X-Request-Id: ${MARK} {}\r\n`),
  'If-None-Match': request('GET', '/plants', `If-None-Match: "${MARK}"\r\n`),
  Expect: request('GET', '/plants', `Expect: ${MARK}\r\n`),
  'Transfer-Encoding': request('GET', '/plants', `Transfer-Encoding: ${MARK}, chunked\r\n`),
  'Content-Length': request('GET', '/plants', `Content-Length: ${MARK}\r\n`),
  'Content-Type': post('{}').replace('application/json', `application/${MARK}`),
  'the charset': post('{}').replace('application/json', `application/json; charset=${MARK}`),
  'Content-Encoding': post('{}', `Content-Encoding: ${MARK}\r\n`),
  'a chunk’s extension': `POST /plants HTTP/1.1\r\n${HOST}${AUTH}${JSON_TYPE}${CHUNKED}\r\n2;${MARK}=${MARK}\r\n{}\r\n0\r\n\r\n`,
  'a trailer': `POST /plants HTTP/1.1\r\n${HOST}${AUTH}${JSON_TYPE}${CHUNKED}\r\n2\r\n{}\r\n0\r\n${MARK}: ${MARK}\r\n\r\n`,
  'a malformed chunk': `POST /plants HTTP/1.1\r\n${HOST}${AUTH}${JSON_TYPE}${CHUNKED}\r\n${MARK}\r\n`,
  'a body that is no JSON': post(MARK),
  'malformed JSON': post(`{"id":1,"name":"${MARK}`),
  'a member twice': post(`{"${MARK}":1,"${MARK}":2}`),
  'a value of another type': post(`["${MARK}"]`),
  'a member that is ignored': post(`{"${MARK}":1,"__proto__":{"${MARK}":1}}`),
  'the id': post(`{"id":"${MARK}","name":"Fern"}`),
  'a name that is none': post(`{"id":1,"name":["${MARK}"]}`),
  'the name of a plant whose id is taken': post(`{"id":1,"name":"${MARK}"}`),
  'a tag that is none': post(`{"id":2,"name":"Fern","tag":{"${MARK}":1}}`),
  'a lone surrogate': post(`{"id":2,"name":"${MARK}\\ud800"}`),
  'bytes that are no text': post(`{"id":2,"name":"${MARK}\xff"}`),
  'bytes that are no request': `\0${MARK}\r\n\r\n`,
};

describe('nothing that a client sends comes back', () => {
  let service: WatchedService;

  before(async () => {
    service = await startWatched();
    const client = await RawSocket.open(service.url);
    await client.send(create(1)).answer();
    client.reset();
  });
  after(() => service.stop());

  for (const [place, bytes] of Object.entries(PLACES)) {
    it(`in an answer or in the log: ${place}`, async () => {
      const client = await RawSocket.open(service.url);
      const before = service.log.length;
      const answer = await client.send(bytes).answer();
      client.reset();
      // A request that broke off in mid-body is told of once its reader has noticed.
      await until(() => service.log.length > before);

      const said = [...answer.fields].join() + answer.body.toString();
      expect(said.toLowerCase()).to.not.contain(MARK.toLowerCase());
      expect(service.log.slice(before)).to.have.length(1);
      expect(service.log.join('').toLowerCase()).to.not.contain(MARK.toLowerCase());
    });
  }

  it('which the log’s own check would notice: it refuses tokens, and lines that are not one JSON object each', () => {
    requireClean('{"msg":"request"}\n');
    for (const line of [
      `{"msg":"${TOKENS.bob}"}\n`,
      '{"msg":"two\nlines"}\n',
      '{"msg":"a\x1b[31m"}\n',
      'plain\n',
    ]) {
      expect(() => requireClean(line), line).to.throw();
    }
  });
});
