import { expect } from 'chai';
import { METHODS } from '../../../../src/adapters/http';
import { errorOf } from '../../../support/http-answer';
import { RawSocket } from '../../../support/raw-socket';
import { AUTH, END, HOST, JSON_TYPE, LIST, create, request } from '../../../support/requests';
import { type WatchedService, startWatched } from '../../../support/watched-service';

const GET = 'GET /plants HTTP/1.1\r\n';
const POST = `POST /plants HTTP/1.1\r\n${HOST}${AUTH}${JSON_TYPE}`;
const PLANT = '{"id":1,"name":"Fern"}';
const CHUNKED = 'Transfer-Encoding: chunked\r\n';

const MALFORMED: Readonly<Record<string, string | Buffer>> = {
  'no Host': GET + AUTH + END,
  'two Hosts': GET + HOST + HOST + AUTH + END,
  'a Host that is not a host': `${GET}Host: a b/c\r\n${AUTH}${END}`,
  'two Authorizations': GET + HOST + AUTH + AUTH + END,
  'two equal Content-Lengths': `${POST}Content-Length: 22\r\nContent-Length: 22\r\n\r\n${PLANT}`,
  'two different Content-Lengths': `${POST}Content-Length: 22\r\nContent-Length: 5\r\n\r\n${PLANT}`,
  'a list of Content-Lengths': `${POST}Content-Length: 22, 22\r\n\r\n${PLANT}`,
  'Content-Length with Transfer-Encoding': `${POST}Content-Length: 22\r\n${CHUNKED}\r\n16\r\n${PLANT}\r\n0\r\n\r\n`,
  'Transfer-Encoding with Content-Length': `${POST}${CHUNKED}Content-Length: 22\r\n\r\n16\r\n${PLANT}\r\n0\r\n\r\n`,
  'Content-Length: -1': `${POST}Content-Length: -1\r\n\r\n`,
  'Content-Length: +5': `${POST}Content-Length: +5\r\n\r\n12345`,
  'Content-Length: 0x16': `${POST}Content-Length: 0x16\r\n\r\n${PLANT}`,
  'Content-Length without a value': `${POST}Content-Length:\r\n\r\n`,
  'a Content-Length beyond 64 bits': `${POST}Content-Length: 99999999999999999999\r\n\r\n`,
  'Transfer-Encoding: xchunked': `${POST}Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n`,
  'Transfer-Encoding: identity': `${POST}Transfer-Encoding: identity\r\n\r\n`,
  'Transfer-Encoding: gzip, chunked': `${POST}Transfer-Encoding: gzip, chunked\r\n\r\n16\r\n${PLANT}\r\n0\r\n\r\n`,
  'Transfer-Encoding: chunked, gzip': `${POST}Transfer-Encoding: chunked, gzip\r\n\r\n`,
  'Transfer-Encoding: chunked, twice': `${POST}${CHUNKED}${CHUNKED}\r\n16\r\n${PLANT}\r\n0\r\n\r\n`,
  'Transfer-Encoding in HTTP/1.0': `${POST.replace('1.1', '1.0')}${CHUNKED}\r\n16\r\n${PLANT}\r\n0\r\n\r\n`,
  'a folded header line': `${GET}${HOST}${AUTH}X-Long: a\r\n b\r\n\r\n`,
  'a space before the colon': `${GET}${HOST}${AUTH}X-Blank : a\r\n\r\n`,
  'a header line without a colon': `${GET}${HOST}${AUTH}nothing\r\n\r\n`,
  'a header line without a name': `${GET}${HOST}${AUTH}: nothing\r\n\r\n`,
  'NUL in a header field': `${GET}${HOST}${AUTH}X-Nul: a\0b\r\n\r\n`,
  'a bare LF after the request line': `GET /plants HTTP/1.1\n${HOST}${AUTH}${END}`,
  'a bare LF after a header line': `${GET}Host: a\n${AUTH}${END}`,
  'a bare LF at the end': `${GET}${HOST}${AUTH}\n`,
  'a bare CR in a header line': `${GET}Host: a\rX-Smuggled: b\r\n${AUTH}${END}`,
  'a chunk size that is not a number': `${POST}${CHUNKED}\r\nzz\r\n`,
  'a chunk that is longer than its size': `${POST}${CHUNKED}\r\n2\r\n${PLANT}\r\n0\r\n\r\n`,
  'a chunk size that ends in a bare LF': `${POST}${CHUNKED}\r\n16\n${PLANT}\r\n0\r\n\r\n`,
  'a malformed trailer': `${POST}${CHUNKED}\r\n16\r\n${PLANT}\r\n0\r\nbad trailer: 1\r\n\r\n`,
  garbage: '\0\x01\x02 garbage\r\n\r\n',
  'words that are not a request line': 'hello there\r\n\r\n',
  'a TLS hello': Buffer.from('160301005a0100005603036d7933c7', 'hex'),
  'the preface of HTTP/2': 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
  'HTTP/0.9': 'GET /plants\r\n\r\n',
  'HTTP/2.0 in the request line': `GET /plants HTTP/2.0\r\n${HOST}${AUTH}${END}`,
  'HTTP/1.2': `GET /plants HTTP/1.2\r\n${HOST}${AUTH}${END}`,
  'HTTP/0.9 in the request line': `GET /plants HTTP/0.9\r\n${HOST}${AUTH}${END}`,
  'RTSP/1.0': `GET /plants RTSP/1.0\r\n${HOST}${AUTH}${END}`,
  'RTSP/1.0 with a body': `${POST.replace('HTTP/1.1', 'RTSP/1.0')}Content-Length: 22\r\n\r\n${PLANT}`,
  'RTSP/1.1': `OPTIONS * RTSP/1.1\r\n${HOST}${AUTH}${END}`,
  'RTSP/2.0': `OPTIONS * RTSP/2.0\r\n${HOST}${AUTH}${END}`,
  'ICE/1.0': `SOURCE /plants ICE/1.0\r\n${HOST}${AUTH}${END}`,
  'another protocol': `GET /plants HTTPS/1.1\r\n${HOST}${AUTH}${END}`,
  'a target that is neither path nor URL': `GET plants HTTP/1.1\r\n${HOST}${AUTH}${END}`,
  'a target of another scheme': request('GET', 'ftp://plants.example/plants'),
  'a target with a malformed authority': request('GET', 'http://[::1/plants'),
  'a target with a fragment': request('GET', '/plants#first'),
  'a target in bytes beyond ASCII': Buffer.from(request('GET', '/plants\xa0'), 'latin1'),
  'an expectation that cannot be met': `${POST}Expect: 200-ok\r\nContent-Length: 22\r\n\r\n${PLANT}`,
};

const BROKEN_OFF: Readonly<Record<string, string>> = {
  'in a header': `${GET}${HOST}`,
  'in a body': `${POST}Content-Length: 22\r\n\r\n{"id":`,
};

const UNKNOWN_METHODS: Readonly<Record<string, string>> = {
  'an unknown method': request('FLOURISH', '/plants'),
  'a method in lower case': request('get', '/plants'),
  'a method that starts with a known one': request('GETS', '/plants'),
  'a method of special characters': request('!#$', '/plants'),
  'a method of another protocol': request('DESCRIBE', '/plants'),
};

describe('malformed HTTP', () => {
  let service: WatchedService;

  beforeEach(async () => (service = await startWatched()));
  afterEach(() => service.stop());

  /** The responses to these bytes until the service closes the connection. */
  async function exchange(...bytes: (string | Buffer)[]) {
    const client = await RawSocket.open(service.url);
    return client.send(...bytes).answers();
  }

  async function list(): Promise<string> {
    const client = await RawSocket.open(service.url);
    const { body } = await client.send(LIST).answer();
    client.socket.destroy();
    return body.toString();
  }

  for (const [what, bytes] of Object.entries(MALFORMED)) {
    it(`is refused with 40000 and a closed connection, and changes nothing: ${what}`, async () => {
      const { answers, ending } = await exchange(bytes);

      expect(answers).to.have.length(1);
      expect(answers[0]!.status).to.equal(400);
      expect(errorOf(answers[0]!)).to.equal(40000);
      expect(answers[0]!.fields.get('connection')).to.equal('close');
      expect(ending).to.equal('end');
      expect(await list()).to.equal('[]');
    });
  }

  for (const [where, bytes] of Object.entries(BROKEN_OFF)) {
    it(`is refused if the client ends its side of the connection ${where}`, async () => {
      const client = await RawSocket.open(service.url);
      const { answers, ending } = await client.send(bytes).finish().answers();

      expect(answers.map(errorOf)).to.deep.equal([40000]);
      expect(ending).to.equal('end');
    });
  }

  for (const [what, bytes] of Object.entries(UNKNOWN_METHODS)) {
    it(`is refused with 405 if only the method is wrong: ${what}`, async () => {
      const { answers, ending } = await exchange(bytes);

      expect(answers).to.have.length(1);
      expect(answers[0]!.status).to.equal(405);
      expect(answers[0]!.fields.get('allow')).to.equal(METHODS.join(', '));
      expect(ending).to.equal('end');
    });
  }

  it('differs from an unknown method after answered requests, too', async () => {
    const [careless, confused] = [await RawSocket.open(service.url), await RawSocket.open(service.url)];
    await careless.send(LIST).answer();
    await confused.send(LIST).answer();

    expect(
      (await careless.send(request('FLOURISH', '/plants')).answers()).answers.map(errorOf),
    ).to.deep.equal([40500]);
    expect((await confused.send('FLOURISH\r\n\r\n').answers()).answers.map(errorOf)).to.deep.equal([40000]);
  });

  it('gets a second response if it follows an answered request', async () => {
    const client = await RawSocket.open(service.url);
    const first = await client.send(LIST).answer();
    const { answers } = await client.send('\0garbage').answers();

    expect(first.status).to.equal(200);
    expect(answers.map(errorOf)).to.deep.equal([40000]);
  });

  it('hides no request: bytes after it are never executed', async () => {
    const { answers } = await exchange(GET + HOST + HOST + AUTH + END + create(1));

    expect(answers.map(errorOf)).to.deep.equal([40000]);
    expect(await list()).to.equal('[]');
  });

  it('is answered after the responses to earlier requests if its request line could be parsed', async () => {
    const { answers } = await exchange(create(1) + LIST + GET + HOST + HOST + AUTH + END + create(2));

    expect(answers.map(({ status }) => status)).to.deep.equal([200, 200, 400]);
    expect(await list()).to.equal('[{"name":"Fern"}]');
  });

  it('gets its response to a client that is still sending', async () => {
    const client = await RawSocket.open(service.url);
    client.send(`${POST}Content-Length: 22\r\nContent-Length: 22\r\n\r\n`);
    for (let i = 0; i < 50; i++) client.send('x'.repeat(10_000));
    const { answers, ending } = await client.answers();

    expect(answers.map(errorOf)).to.deep.equal([40000]);
    expect(ending).to.equal('end');
  });

  it('deletes nothing if it is in the body of a DELETE', async () => {
    const client = await RawSocket.open(service.url);
    await client.send(create(1)).answer();
    const { answers } = await client.send(request('DELETE', '/plants/1', CHUNKED), 'zz\r\n').answers();

    expect(answers.map(errorOf)).to.deep.equal([40000]);
    expect(await list()).to.equal('[{"name":"Fern"}]');
  });
});
