import { expect } from 'chai';
import { errorOf } from '../../../support/http-answer';
import { RawSocket } from '../../../support/raw-socket';
import { AUTH, HOST, JSON_TYPE, LIST, create, request } from '../../../support/requests';
import { type WatchedService, startWatched } from '../../../support/watched-service';

const CONTINUE = 'Expect: 100-continue\r\n';

describe('methods, targets and expectations', () => {
  let service: WatchedService;
  let client: RawSocket;

  before(async () => (service = await startWatched()));
  after(() => service.stop());
  beforeEach(async () => (client = await RawSocket.open(service.url)));
  afterEach(() => client.reset());

  async function ask(bytes: string, method = 'GET') {
    const answer = await client.send(bytes).answer(method);
    return answer;
  }

  it('answers 405 to CONNECT and closes the connection', async () => {
    const { answers, ending } = await client.send(request('CONNECT', 'plants.example:443')).answers();

    expect(answers.map(errorOf)).to.deep.equal([40500]);
    expect(ending).to.equal('end');
  });

  it('answers 401 to the preflight of a browser, and no response has a CORS field', async () => {
    const preflight = `OPTIONS /plants HTTP/1.1\r\n${HOST}Origin: https://example.com\r\nAccess-Control-Request-Method: POST\r\n\r\n`;
    const answers = [
      await ask(preflight, 'OPTIONS'),
      await ask(LIST.replace('\r\n', '\r\nOrigin: https://example.com\r\n')),
    ];

    expect(answers.map(({ status }) => status)).to.deep.equal([401, 200]);
    for (const { fields } of answers) {
      expect([...fields.keys()].filter((name) => name.startsWith('access-control'))).to.deep.equal([]);
    }
  });

  for (const protocol of ['websocket', 'h2c', 'TLS/1.0']) {
    it(`ignores an upgrade, executes no bytes after it and closes the connection (${protocol})`, async () => {
      const upgrade = `Connection: Upgrade\r\nUpgrade: ${protocol}\r\n`;
      const { answers, ending } = await client
        .send(request('GET', '/plants', upgrade) + create(40) + LIST)
        .answers();

      expect(answers.map(({ status }) => status)).to.deep.equal([200]);
      expect(answers[0]!.fields.get('upgrade')).to.equal(undefined);
      expect(answers[0]!.fields.get('connection')).to.equal('close');
      expect(ending).to.equal('end');
    });
  }

  it('answers 400/40001 to a POST without a body', async () => {
    const answer = await ask(`POST /plants HTTP/1.1\r\n${HOST}${AUTH}${JSON_TYPE}\r\n`);
    expect(errorOf(answer)).to.equal(40001);
  });

  it('reads the body of a request with an upgrade', async () => {
    const { answers } = await client
      .send(create(40, 'Fern', 'Connection: Upgrade\r\nUpgrade: h2c\r\n'))
      .answers();
    expect(answers.map(({ status }) => status)).to.deep.equal([200]);

    client = await RawSocket.open(service.url);
    expect((await ask(request('DELETE', '/plants/40'))).status).to.equal(204);
  });

  describe('a target', () => {
    const ANSWERS: Readonly<Record<string, [status: number, error?: number]>> = {
      'http://plants.example/plants': [200],
      'HTTPS://PLANTS.EXAMPLE:8443/plants': [200],
      'http://[::1]:3000/plants?limit=0': [200],
      'http://plants.example': [200],
      'http://plants.example?limit=1': [200],
      '*': [404, 40400],
      '/': [200],
      '//plants': [404, 40400],
      '/plants/': [404, 40400],
      '/plants/?limit=1': [404, 40400],
      '/PLANTS': [404, 40400],
      '/Plants': [404, 40400],
      '/%70lants': [404, 40400],
      '/plants%2F': [404, 40400],
      '/plants/..': [405, 40500],
      '/./plants': [404, 40400],
      '/plants;v=1': [404, 40400],
      '/plants\\': [404, 40400],
      '/plants?limit=1&limit=2': [400, 40004],
      '/plants?limit=%zz': [400, 40004],
      '/plants?limit=%00': [400, 40004],
      '/plants?%zz=%zz': [200],
      'http://plants.example/nothing?limit=1': [404, 40400],
      '/plants\xa0': [400, 40000],
    };
    for (const [target, [status, error]] of Object.entries(ANSWERS)) {
      it(`is compared exactly: GET ${encodeURI(target)} is ${status}`, async () => {
        const answer = await ask(request('GET', target));
        expect(answer.status).to.equal(status);
        if (error !== undefined) expect(errorOf(answer)).to.equal(error);
      });
    }

    it('has no part in the links of a response if it has no path', async () => {
      const { body } = await ask(request('GET', 'http://plants.example'));
      expect(JSON.parse(String(body))).to.include({ docs: '/docs' });
    });

    for (const id of [
      '%zz',
      '%00',
      '%2F',
      '%31',
      '..',
      '1%2F..',
      '1;2',
      'constructor',
      '__proto__',
      '1?x/y',
    ]) {
      it(`is compared exactly: DELETE /plants/${id} deletes nothing`, async () => {
        await ask(create(1));
        const answer = await ask(request('DELETE', `/plants/${id}`));
        if (id === '1?x/y') expect(answer.status).to.equal(204);
        else expect(errorOf(answer)).to.equal(40005);
        await ask(request('DELETE', '/plants/1'));
      });
    }
  });

  describe('Expect: 100-continue', () => {
    const plant = '{"id":51,"name":"Fern"}';
    const [head, body] = [request('POST', '/plants', CONTINUE, plant).slice(0, -plant.length), plant];

    it('gets 100 Continue and then the response', async () => {
      expect((await ask(head)).status).to.equal(100);
      expect((await ask(body)).status).to.equal(200);
      expect((await ask(request('DELETE', '/plants/51'))).status).to.equal(204);
    });

    it('gets 100 Continue before the body of a DELETE, too', async () => {
      expect(
        (await ask(request('DELETE', '/plants/52', `${CONTINUE}Content-Length: 3\r\n`))).status,
      ).to.equal(100);
      expect((await ask('xyz')).status).to.equal(404);
    });

    const REFUSED: Readonly<Record<string, [bytes: string, status: number]>> = {
      'credentials are missing': [head.replace(AUTH, ''), 401],
      'the body is too large': [head.replace(/Content-Length: \d+/, 'Content-Length: 100000'), 413],
      'the body is not JSON': [head.replace('application/json', 'text/plain'), 415],
      'the method has no body': [head.replace('POST', 'PUT'), 405],
    };
    for (const [why, [bytes, status]] of Object.entries(REFUSED)) {
      it(`gets the final response at once and the connection is closed if ${why}`, async () => {
        const { answers } = await client.send(bytes).answers();
        expect(answers.map((answer) => answer.status)).to.deep.equal([status]);
      });
    }

    it('is ignored in HTTP/1.0', async () => {
      const { answers } = await client
        .send(request('POST', '/plants', CONTINUE, '{"id":53,"name":"Fern"}').replace('HTTP/1.1', 'HTTP/1.0'))
        .answers();
      expect(answers.map(({ status }) => status)).to.deep.equal([200]);
    });
  });

  it('serves HTTP/1.0, also without Host, and closes the connection unless it has keep-alive', async () => {
    const old = LIST.replace('HTTP/1.1', 'HTTP/1.0').replace(HOST, '');
    const kept = await ask(old.replace(AUTH, `${AUTH}Connection: keep-alive\r\n`));
    expect(kept.fields.get('connection')).to.equal('keep-alive');

    const { answers } = await client.send(old).answers();
    expect(answers.map(({ status }) => status)).to.deep.equal([200]);
    expect(answers[0]!.fields.get('connection')).to.equal('close');
  });
});
