/** The requests of one connection, and a client that sends on, ends or goes. */
import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { expect } from 'chai';
import { Connection } from '../../../../src/adapters/http/connection';
import { PerKeyCounter } from '../../../../src/adapters/http/per-key-counter';
import { FairScheduler } from '../../../../src/adapters/http/turns';
import { errorOf } from '../../../support/raw-socket';
import { AUTH, END, HOST, JSON_TYPE, LIST, create, request } from '../../../support/requests';
import { served } from '../../../support/served';
import { until } from '../../../support/until';

/** Long enough for a wrong effect to show. */
const A_MOMENT_MS = 60;
const POST = `POST /plants HTTP/1.1\r\n${HOST}${AUTH}${JSON_TYPE}`;
const CHUNKED = 'Transfer-Encoding: chunked\r\n';
const SMALL = `GET /nothing HTTP/1.1\r\n${HOST}${END}`;
const LIMITS = { STORE_TIMEOUT_MS: '60000', BODY_LIMIT: '1000' };

describe('A connection', () => {
  const edge = served({ ...LIMITS, REQUEST_TIMEOUT_MS: '60000' });

  for (const [what, [bytes, error]] of Object.entries<[string, number]>({
    'bytes that are not HTTP': ['BAD\r\n\r\n', 40000],
    CONNECT: [request('CONNECT', 'plants.example:443'), 40500],
    'an incomplete request that times out': [`GET /plants HTTP/1.1\r\n${HOST}`, 40800],
    'a malformed body': [`${POST}${CHUNKED}\r\nzz\r\n`, 40000],
    'a malformed body that no handler reads': [
      request('GET', '/plants', CHUNKED) + 'zz\r\n',
      40000,
    ],
  }))
    it(`answers all accepted requests before it refuses ${what}, and then closes`, async () => {
      if (what.endsWith('times out'))
        await edge().restart({ ...LIMITS, REQUEST_TIMEOUT_MS: '500' });
      for (const count of [1, 20]) {
        edge().store.delayMs = A_MOMENT_MS;
        const accepted = Array.from({ length: count }, (_, id) => create(100 * count + id)).join(
          '',
        );
        const { answers, ending } = await (await edge().send(accepted + bytes)).answers();
        const outcomes = answers.map((each) => (each.status === 200 ? 200 : errorOf(each)));
        expect(outcomes).to.deep.equal([...Array<number>(count).fill(200), error]);
        expect(ending).to.equal('end');
      }
    });

  it('sends no second response if a body turns out to be malformed after its response', async () => {
    const client = await edge().send(request('GET', '/unknown', CHUNKED));
    expect(errorOf(await client.answer())).to.equal(40400);
    expect((await client.send('zz\r\n').answers()).answers).to.deep.equal([]);
  });

  for (const [what, bytes] of Object.entries({
    'a header': `GET /plants HTTP/1.1\r\n${HOST}`,
    'a body in HTTP/1.0, which gets no 100 Continue': create(1, 'Fern', 'Expect: 100-continue\r\n')
      .replace('HTTP/1.1', 'HTTP/1.0')
      .slice(0, -1),
  }))
    it(`answers only 40000 if the client half-closes it within ${what}`, async () => {
      const { answers, ending } = await (await edge().send(bytes)).finish().answers();
      expect([answers.map(errorOf), ending]).to.deep.equal([[40000], 'end']);
    });

  it('answers all requests that the client sent before it half-closed the connection', async () => {
    edge().store.delayMs = A_MOMENT_MS;
    const { answers, ending } = await (await edge().send(create(1) + LIST)).finish().answers();
    expect([answers.map(({ status }) => status), ending]).to.deep.equal([[200, 200], 'end']);
  });

  const LARGE = 'x'.repeat(10_000);
  const TWO_LENGTHS = `${POST}Content-Length: 2\r\nContent-Length: 2\r\n\r\n`;
  for (const [what, error, head, chunk, times] of [
    ['a malformed request', 40000, TWO_LENGTHS, LARGE, 50],
    ['a large body', 41300, `${POST}Content-Length: 1000000\r\n\r\n`, LARGE, 100],
    ['large chunks', 41300, `${POST}${CHUNKED}\r\n`, `100000\r\n${'x'.repeat(2 ** 20)}\r\n`, 16],
  ] as const)
    it(`delivers its error response to a client that reads only after it has sent ${what}`, async () => {
      const client = await edge().send(head);
      client.socket.pause();
      client.send(chunk.repeat(times));
      client.socket.write('0\r\n\r\n', () => client.socket.resume());
      const { answers, ending } = await client.answers();
      expect([answers.map(errorOf), ending]).to.deep.equal([[error], 'end']);
    });

  it('is closed even if the client never stops sending', async () => {
    const client = await edge().send(`${POST}Content-Length: 9000000000\r\n\r\n`);
    const sending = setInterval(() => client.send('x'.repeat(100_000)), 5);
    await new Promise((resolve) => client.socket.once('close', resolve));
    clearInterval(sending);
  });

  it('sends its requests to the event store one after the other', async () => {
    edge().store.delayMs = A_MOMENT_MS;
    const client = await edge().send(LIST.repeat(5));
    for (let i = 0; i < 5; i++) expect((await client.answer()).status).to.equal(200);
    // At once, they would share a round.
    expect(edge().store.trips).to.equal(5);
  });

  it('is reset if it has more than a thousand waiting requests, and other connections are not', async () => {
    edge().store.delayMs = Infinity;
    const modest = await edge().send(LIST + SMALL.repeat(1000));
    await (await edge().send(LIST + SMALL.repeat(1100))).ended();
    edge().store.delayMs = 0;
    for (let i = 0; i <= 1000; i++) await modest.answer();
  });

  for (const [what, waiting] of Object.entries({
    requests: SMALL.repeat(1000),
    'bodies of requests': request('POST', '/plants', '', 'x'.repeat(16_000)).repeat(94),
  }))
    it(`is reset if the waiting ${what} of all connections take too much memory`, async () => {
      edge().store.delayMs = Infinity;
      const crowd = await Promise.all(
        Array.from({ length: 30 }, () => edge().send(LIST + waiting)),
      );
      let closed = 0;
      for (const client of crowd) void client.ended().then(() => closed++);
      await until(() => closed >= 5);
      // Each connection has been read: this one comes behind them.
      expect((await edge().ask(SMALL)).status).to.equal(404);
      expect(closed).to.be.within(5, 25);
      for (const client of crowd) client.reset();
      edge().store.delayMs = 0;
      // Closed connections take none. Ten requests are more than each connection may have anyway.
      const pipelined = async () => (await edge().send(LIST + SMALL.repeat(9))).finish().answers();
      await until(async () => (await pipelined()).answers.length === 10);
    });

  it('may always have five waiting requests, however much memory other connections take', () => {
    const bytes = new PerKeyCounter<Connection>();
    const turns = new FairScheduler();
    const [one, other] = [1, 2].map(
      () =>
        new Connection(
          new Socket(),
          bytes,
          () => {},
          turns,
          () => {},
        ),
    ) as [Connection, Connection];
    bytes.add(other, 32 * 2 ** 20);
    const taken = Array.from({ length: 7 }, () =>
      one.admit(new ServerResponse(new IncomingMessage(new Socket())), false),
    );
    expect(taken).to.deep.equal([...Array<string>(6).fill('admitted'), 'refused']);
  });

  it('serves ten thousand requests, and closes after the response to the last one', async function () {
    this.slow(4000);
    const client = await edge().send();
    const live = `GET /health/live HTTP/1.1\r\n${HOST}${END}`;
    for (let i = 1; i < 10_000; i++) {
      if (i % 500 === 1) client.send(live.repeat(Math.min(500, 10_000 - i)));
      expect((await client.answer()).fields.get('connection')).to.equal('keep-alive');
    }
    const { answers, ending } = await client.send(live + create(1)).answers();
    expect(answers.map(({ fields }) => fields.get('connection'))).to.deep.equal(['close']);
    expect([ending, (await edge().ask(LIST)).body.toString()]).to.deep.equal(['end', '[]']);
  });
});
