/** The requests of one connection, and a client that sends on, ends or goes. */
import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'chai';
import { type RawSocket, errorOf } from '../../../support/raw-socket';
import { AUTH, END, HOST, JSON_TYPE, LIST, create, request } from '../../../support/requests';
import { served } from '../../../support/served';
import { until } from '../../../support/until';

const FOR_EVER_MS = 3_600_000;
/** Long enough for a wrong effect to show. */
const A_MOMENT_MS = 60;
const POST = `POST /plants HTTP/1.1\r\n${HOST}${AUTH}${JSON_TYPE}`;
const CHUNKED = 'Transfer-Encoding: chunked\r\n';
const SMALL = `GET /nothing HTTP/1.1\r\n${HOST}${END}`;
const LIMITS = { STORE_TIMEOUT_MS: '60000', BODY_LIMIT: '1000' };
const SHORT_TIMEOUT = { ...LIMITS, REQUEST_TIMEOUT_MS: '500' };

describe('A connection', () => {
  const edge = served({ ...LIMITS, REQUEST_TIMEOUT_MS: '60000' });
  const plants = async () => {
    edge().store.delayMs = 0;
    return (await edge().ask(LIST)).body.toString();
  };

  for (const [what, bytes] of Object.entries({
    garbage: '\0garbage',
    'an unknown method': request('FLOURISH', '/plants'),
    'a header that is too large': `GET /plants HTTP/1.1\r\n${HOST}X-Large: ${'x'.repeat(20_000)}\r\n\r\n`,
    CONNECT: request('CONNECT', 'plants.example:443'),
    'an incomplete request that times out': `GET /plants HTTP/1.1\r\n${HOST}`,
    'a malformed body': `${POST}${CHUNKED}\r\nzz\r\n`,
  }))
    it(`is closed without a response by ${what} behind a request that has none yet`, async () => {
      if (what.endsWith('times out')) await edge().restart(SHORT_TIMEOUT);
      edge().store.delayMs = FOR_EVER_MS;
      const { answers } = await (await edge().send(LIST + bytes)).answers();
      expect(answers).to.deep.equal([]);
    });

  for (const [why, bytes, rest = ''] of [
    ['the client requested it', request('GET', '/plants', 'Connection: close\r\n')],
    ['it was malformed', request('GET', '/plants', 'Host: b\r\n')],
    ['it was not HTTP', '\0garbage'],
    ['its body is too large', `${POST}Content-Length: 70000\r\n\r\n`, 'x'.repeat(70_000)],
    ['its body did not arrive', create(1).slice(0, -1), '}'],
  ] as const)
    it(`executes nothing behind its last response, which was the last because ${why}`, async () => {
      if (rest === '}') await edge().restart(SHORT_TIMEOUT);
      const client = await edge().send(bytes);
      await client.answer();
      await client.send(rest, create(1)).ended();
      expect(await plants()).to.equal('[]');
    });

  it('has no second response if a body turns out malformed after its response', async () => {
    const client = await edge().send(request('GET', '/unknown', CHUNKED));
    expect(errorOf(await client.answer())).to.equal(40400);
    expect((await client.send('zz\r\n').answers()).answers).to.deep.equal([]);
  });

  for (const [where, bytes] of Object.entries({
    'in a header': `GET /plants HTTP/1.1\r\n${HOST}`,
    'in a body': create(1).slice(0, -1),
  }))
    it(`answers 40000 if the client ends its side ${where}`, async () => {
      const { answers, ending } = await (await edge().send(bytes)).finish().answers();
      expect([answers.map(errorOf), ending]).to.deep.equal([[40000], 'end']);
      expect(await plants()).to.equal('[]');
    });

  it('answers all requests before the client has ended its side', async () => {
    edge().store.delayMs = A_MOMENT_MS;
    const { answers, ending } = await (await edge().send(create(1) + LIST)).finish().answers();
    expect([answers.map(({ status }) => status), ending]).to.deep.equal([[200, 200], 'end']);
  });

  for (const [what, error, head, chunk, times] of [
    [
      'a malformed request',
      40000,
      `${POST}Content-Length: 2\r\nContent-Length: 2\r\n\r\n`,
      'x'.repeat(10_000),
      50,
    ],
    ['a large body', 41300, `${POST}Content-Length: 1000000\r\n\r\n`, 'x'.repeat(10_000), 100],
    ['large chunks', 41300, `${POST}${CHUNKED}\r\n`, `100000\r\n${'x'.repeat(2 ** 20)}\r\n`, 16],
  ] as const)
    it(`delivers its refusal to a client that reads only after it has sent ${what}`, async () => {
      const client = await edge().send(head);
      client.socket.pause();
      client.send(chunk.repeat(times));
      client.socket.write('0\r\n\r\n', () => client.socket.resume());
      const { answers, ending } = await client.answers();
      expect([answers.map(errorOf), ending]).to.deep.equal([[error], 'end']);
    });

  it('sends no 100 Continue in HTTP/1.0', async () => {
    const [head, body] = create(1, 'Fern', 'Expect: 100-continue\r\n').split('\r\n\r\n') as [string, string];
    const client = await edge().send(`${head.replace('HTTP/1.1', 'HTTP/1.0')}\r\n\r\n`);
    await delay(A_MOMENT_MS);
    expect((await client.send(body).answers()).answers.map(({ status }) => status)).to.deep.equal([200]);
  });

  it('is closed although the client sends without end', async () => {
    const client = await edge().send(`${POST}Content-Length: 9000000000\r\n\r\n`);
    const sending = setInterval(() => client.send('x'.repeat(100_000)), 5);
    await new Promise((resolve) => client.socket.once('close', resolve));
    clearInterval(sending);
  });

  it('has one request at a time in the event store', async () => {
    edge().store.delayMs = A_MOMENT_MS;
    const client = await edge().send(LIST.repeat(5));
    for (let i = 0; i < 5; i++) expect((await client.answer()).status).to.equal(200);
    // At once, they would share a round.
    expect(edge().store.trips).to.equal(5);
  });

  it('may have a thousand waiting requests, is reset beyond, and no other one is', async () => {
    edge().store.delayMs = FOR_EVER_MS;
    const modest = await edge().send(LIST + SMALL.repeat(1000));
    await (await edge().send(LIST + SMALL.repeat(1100))).ended();
    edge().store.delayMs = 0;
    for (let i = 0; i <= 1000; i++) await modest.answer();
  });

  it('is reset if the waiting requests of all connections exceed a total', async () => {
    edge().store.delayMs = FOR_EVER_MS;
    const crowd = await Promise.all(Array.from({ length: 30 }, () => edge().send(LIST + SMALL.repeat(1000))));
    let closed = 0;
    for (const client of crowd) void client.ended().then(() => closed++);
    await until(() => closed >= 5);
    // Each connection has been read: this one comes behind them.
    expect((await edge().ask(SMALL)).status).to.equal(404);
    expect(closed).to.be.within(5, 25);
  });

  it('serves ten thousand requests, and closes with the response to the last', async function () {
    this.slow(4000);
    const client = await edge().send();
    const live = `GET /health/live HTTP/1.1\r\n${HOST}${END}`;
    for (let i = 1; i < 10_000; i++) {
      if (i % 500 === 1) client.send(live.repeat(Math.min(500, 10_000 - i)));
      expect((await client.answer()).fields.get('connection')).to.equal('keep-alive');
    }
    const { answers, ending } = await client.send(live + create(1)).answers();
    expect(answers.map(({ fields }) => fields.get('connection'))).to.deep.equal(['close']);
    expect([ending, await plants()]).to.deep.equal(['end', '[]']);
  });

  for (const [how, go] of Object.entries({
    'with a reset': (client: RawSocket) => client.reset(),
    'with a FIN': (client: RawSocket) => client.socket.destroy(),
  })) {
    it(`stores nothing if the client goes within a body ${how}`, async () => {
      // Without its last byte, the body is a plant as well, but not the whole body.
      const whole = request('POST', '/plants', '', '{"id":1,"name":"Fern"} ');
      for (const length of [whole.length - 1, whole.length - 5, whole.indexOf('\r\n\r\n') + 4]) {
        const client = await edge().send(whole.slice(0, length));
        await delay(A_MOMENT_MS);
        go(client);
      }
      await until(() => edge().service.log.filter((line) => line.includes('"msg":"request"')).length === 3);
      expect(await plants()).to.equal('[]');
    });

    it(`stores a plant at most once if the client goes before the response ${how}`, async () => {
      edge().store.delayMs = FOR_EVER_MS;
      const client = await edge().send(create(1));
      await until(() => edge().store.trips > 0);
      go(client);
      await until(() => client.socket.destroyed);
      expect(await plants()).to.be.oneOf(['[]', '[{"name":"Fern"}]']);
    });
  }
});
