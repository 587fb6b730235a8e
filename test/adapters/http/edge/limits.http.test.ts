import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'chai';
import { errorOf } from '../../../support/http-answer';
import { RawSocket } from '../../../support/raw-socket';
import { AUTH, END, HOST, JSON_TYPE, LIST, create, request } from '../../../support/requests';
import { until } from '../../../support/until';
import { type WatchedService, startWatched } from '../../../support/watched-service';

const LIMIT_MS = 400;
const BODY_LIMIT = 1000;
const POST = `POST /plants HTTP/1.1\r\n${HOST}${AUTH}${JSON_TYPE}`;
const CHUNKED = `${POST}Transfer-Encoding: chunked\r\n\r\n`;

describe('the limits of a request', () => {
  let service: WatchedService;

  const limitedBy = (environment: Readonly<Record<string, string>>) => {
    before(async () => {
      service = await startWatched(environment);
    });
    after(() => service.stop());
  };

  /** The only response to these bytes. The service must close the connection after it. */
  async function last(...bytes: string[]) {
    const client = await RawSocket.open(service.url);
    const { answers, ending } = await client.send(...bytes).answers();
    expect(answers).to.have.length(1);
    expect(ending).to.equal('end');
    expect(answers[0]!.fields.get('connection')).to.equal('close');
    return answers[0]!;
  }

  describe('of size', () => {
    limitedBy({ BODY_LIMIT: String(BODY_LIMIT) });

    const TOO_LARGE: Readonly<Record<string, string>> = {
      'the size of a header field': request('GET', '/plants', `X-Large: ${'x'.repeat(17_000)}\r\n`),
      'the size of all header fields': request(
        'GET',
        '/plants',
        `X-Large: ${'x'.repeat(150)}\r\n`.repeat(99),
      ),
      'a target': request('GET', `/plants?${'x'.repeat(17_000)}`),
      'the number of header fields': request('GET', '/plants', 'X-Small: x\r\n'.repeat(99)),
    };
    for (const [what, bytes] of Object.entries(TOO_LARGE)) {
      it(`refuse with 431 a header that exceeds ${what}`, async () => {
        const answer = await last(bytes);
        expect(answer.status).to.equal(431);
        expect(errorOf(answer)).to.equal(43100);
      });
    }

    it('allow a hundred header fields and 15 KiB of header', async () => {
      const client = await RawSocket.open(service.url);
      client.send(request('GET', '/plants', 'X-Small: x\r\n'.repeat(98)));
      expect((await client.answer()).status).to.equal(200);
      client.send(request('GET', '/plants', `X-Large: ${'x'.repeat(15 * 1024)}\r\n`));
      expect((await client.answer()).status).to.equal(200);
      client.reset();
    });

    const LARGE_BODIES: Readonly<Record<string, string[]>> = {
      'by its length, before the body is sent': [`${POST}Content-Length: ${BODY_LIMIT + 1}\r\n\r\n`],
      'by a length that is not a safe integer': [`${POST}Content-Length: 9007199254740993\r\n\r\n`],
      'by its chunks, before the last chunk': [
        CHUNKED,
        '200\r\n',
        'x'.repeat(512),
        '\r\n200\r\n',
        'x'.repeat(512),
      ],
      'by the extensions of its chunks': [CHUNKED, `1;${'x'.repeat(20_000)}`],
    };
    for (const [how, bytes] of Object.entries(LARGE_BODIES)) {
      it(`refuse with 413 a body that is too large ${how}`, async () => {
        const answer = await last(...bytes);
        expect(answer.status).to.equal(413);
        expect(errorOf(answer)).to.equal(41300);
      });
    }

    const ENORMOUS = request('DELETE', '/plants/1', `Content-Length: ${BODY_LIMIT + 1}\r\n`);
    const UNENDING = request('DELETE', '/plants/1', 'Transfer-Encoding: chunked\r\n');
    for (const bytes of [[ENORMOUS], [UNENDING, `3e9\r\n${'x'.repeat(1001)}`]]) {
      it(`apply to an ignored body, too: ${bytes[0] === ENORMOUS ? 'by its length' : 'by its chunks'}`, async () => {
        expect(errorOf(await last(...bytes))).to.equal(41300);
      });
    }

    it('allow a body of exactly the limit', async () => {
      const body = JSON.stringify({ id: 1, name: 'x' });
      const client = await RawSocket.open(service.url);
      client.send(request('POST', '/plants', '', body + ' '.repeat(BODY_LIMIT - body.length)));
      expect((await client.answer()).status).to.equal(200);
      client.send(request('POST', '/plants', '', body + ' '.repeat(BODY_LIMIT + 1 - body.length)));
      expect((await client.answer()).status).to.equal(413);
      client.reset();
    });

    it('allow an ignored body of exactly the limit, in chunks', async () => {
      const client = await RawSocket.open(service.url);
      client.send(UNENDING, `3e8\r\n${'x'.repeat(BODY_LIMIT)}\r\n0\r\n\r\n`);
      expect((await client.answer()).status).to.equal(204);
      client.reset();
    });

    it('send the 413 to a client that continues to send its large body', async () => {
      const client = await RawSocket.open(service.url);
      client.send(`${POST}Content-Length: 1000000\r\n\r\n`);
      for (let i = 0; i < 100; i++) client.send('x'.repeat(10_000));
      const { answers, ending } = await client.answers();

      expect(answers.map(errorOf)).to.deep.equal([41300]);
      expect(ending).to.equal('end');
    });

    it('send the 413 to a client that reads only after it has sent its large body in chunks', async () => {
      const client = await RawSocket.open(service.url);
      client.socket.pause();
      // More than all buffers between client and service hold.
      const megabyte = `100000\r\n${'x'.repeat(2 ** 20)}\r\n`;
      client.send(CHUNKED, megabyte.repeat(16));
      client.socket.write('0\r\n\r\n', () => client.socket.resume());
      const { answers, ending } = await client.answers();

      expect(answers.map(errorOf)).to.deep.equal([41300]);
      expect(ending).to.equal('end');
    });

    it('close the connection of a client that sends without end', async () => {
      const client = await RawSocket.open(service.url);
      client.send(`${POST}Content-Length: 9000000000\r\n\r\n`);
      const sending = setInterval(() => client.send('x'.repeat(100_000)), 5);
      const closed = new Promise((resolve) => client.socket.once('close', resolve));
      await closed;
      clearInterval(sending);
    });
  });

  describe('of time', () => {
    limitedBy({ REQUEST_TIMEOUT_MS: String(LIMIT_MS) });

    const SLOW: Readonly<Record<string, { say: string; then?: string }>> = {
      'a client that sends nothing': { say: '' },
      'a header that stops': { say: `GET /plants HTTP/1.1\r\n${HOST}` },
      'a header that trickles': { say: `GET /plants HTTP/1.1\r\n${HOST}X-Slow: `, then: 'x' },
      'endless empty lines': { say: END, then: END },
      'a body that stops': { say: create(7).slice(0, -5) },
      'a body that trickles': { say: `${POST}Content-Length: 500\r\n\r\n`, then: ' ' },
      'chunks that trickle': { say: CHUNKED, then: '1\r\nx\r\n' },
    };
    const IDLE_MS = LIMIT_MS + 1200;
    const outcomes = new Map<string, Awaited<ReturnType<typeof slow>>>();
    let afterIdling: number;

    // In parallel, because each takes more than a second.
    before(async () => {
      await Promise.all([
        ...Object.entries(SLOW).map(async ([what, way]) => outcomes.set(what, await slow(way))),
        idle().then((status) => (afterIdling = status)),
      ]);
    });

    async function slow({ say, then }: { say: string; then?: string }) {
      const client = await RawSocket.open(service.url);
      const since = performance.now();
      client.send(say);
      const trickle = setInterval(() => then !== undefined && client.send(then), 50);
      const { answers, ending } = await client.answers();
      clearInterval(trickle);
      return { answers, ending, took: performance.now() - since };
    }

    async function idle(): Promise<number> {
      const client = await RawSocket.open(service.url);
      await client.send(LIST).answer();
      await delay(IDLE_MS);
      const { status } = await client.send(LIST).answer();
      client.reset();
      return status;
    }

    for (const what of Object.keys(SLOW)) {
      it(`answer 408 to ${what}`, () => {
        const { answers, ending, took } = outcomes.get(what)!;

        expect(answers.map(({ status }) => status)).to.deep.equal([408]);
        expect(errorOf(answers[0]!)).to.equal(40800);
        expect(ending).to.equal('end');
        expect(took).to.be.above(LIMIT_MS - 10);
      });
    }

    it('do not apply to a connection between two requests', () => expect(afterIdling).to.equal(200));
  });

  describe('of number', () => {
    limitedBy({ MAX_CONNECTIONS: '20' });

    it('refuse further connections at once, and accept connections again after others have closed', async () => {
      const taken = await Promise.all(Array.from({ length: 20 }, () => RawSocket.open(service.url)));
      for (const client of taken) expect((await client.send(LIST).answer()).status).to.equal(200);

      const last = request('GET', '/plants', 'Connection: close\r\n');
      const statuses = async () => {
        const { answers } = await (await RawSocket.open(service.url)).send(last).answers();
        return answers.map(({ status }) => status);
      };
      expect(await statuses()).to.deep.equal([]);

      taken.forEach((client) => client.reset());
      await until(async () => (await statuses())[0] === 200);
    });
  });
});
