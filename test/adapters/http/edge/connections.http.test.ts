/** The requests of one connection, and a client that sends on, ends or goes. */
import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'chai';
import { errorOf } from '../../../support/http-answer';
import { RawSocket } from '../../../support/raw-socket';
import { AUTH, END, HOST, JSON_TYPE, LIST, create, request } from '../../../support/requests';
import { SlowStore } from '../../../support/slow-store';
import { until } from '../../../support/until';
import { type WatchedService, startWatched } from '../../../support/watched-service';

const FOR_EVER_MS = 3_600_000;
/** Long enough for a wrong effect to show. */
const A_MOMENT_MS = 60;
const POST = `POST /plants HTTP/1.1\r\n${HOST}${AUTH}${JSON_TYPE}`;
const CHUNKED = 'Transfer-Encoding: chunked\r\n';
const SMALL = `GET /nothing HTTP/1.1\r\n${HOST}${END}`;

describe('A connection', () => {
  let store: SlowStore;
  let service: WatchedService;
  const clients: RawSocket[] = [];

  async function start(requestTimeoutMs = 60_000): Promise<void> {
    service = await startWatched(
      { REQUEST_TIMEOUT_MS: String(requestTimeoutMs), STORE_TIMEOUT_MS: '60000', BODY_LIMIT: '1000' },
      { eventStore: store },
    );
  }

  beforeEach(async () => {
    store = new SlowStore();
    await start();
  });
  afterEach(async () => {
    store.delayMs = 0;
    for (const client of clients.splice(0)) client.reset();
    await service.stop();
  });

  async function send(...bytes: string[]): Promise<RawSocket> {
    const client = await RawSocket.open(service.url);
    clients.push(client);
    return client.send(...bytes);
  }

  async function list(): Promise<string> {
    store.delayMs = 0;
    return (await (await send(LIST)).answer()).body.toString();
  }

  for (const [what, bytes] of Object.entries({
    garbage: '\0garbage',
    'an unknown method': request('FLOURISH', '/plants'),
    'a header that is too large': `GET /plants HTTP/1.1\r\n${HOST}X-Large: ${'x'.repeat(20_000)}\r\n\r\n`,
    CONNECT: request('CONNECT', 'plants.example:443'),
    'an incomplete request that times out': `GET /plants HTTP/1.1\r\n${HOST}`,
    'a malformed body': `${POST}${CHUNKED}\r\nzz\r\n`,
  }))
    it(`is closed without a response by ${what} behind a request that has none yet`, async () => {
      if (what.endsWith('times out')) await service.stop().then(() => start(500));
      store.delayMs = FOR_EVER_MS;
      const { answers } = await (await send(LIST + bytes)).answers();
      expect(answers).to.deep.equal([]);
    });

  for (const [why, bytes] of Object.entries({
    'the client requested it': request('GET', '/plants', 'Connection: close\r\n'),
    'it was malformed': request('GET', '/plants', 'Host: b\r\n'),
    'it was not HTTP': '\0garbage',
    'its body is too large': request('POST', '/plants', `${JSON_TYPE}Content-Length: 70000\r\n`),
    'its body did not arrive': create(1).slice(0, -1),
  }))
    it(`executes nothing behind its last response, which was the last because ${why}`, async () => {
      if (why.endsWith('did not arrive')) await service.stop().then(() => start(500));
      const client = await send(bytes);
      await client.answer();
      const { trips } = store;
      client.send(
        bytes.includes('70000') ? 'x'.repeat(70_000) : bytes.endsWith('"') ? '}' : '',
        LIST + create(1),
      );
      await client.ended();
      expect(store.trips).to.equal(trips);
      expect(await list()).to.equal('[]');
    });

  it('has no second response if a body turns out malformed after its response', async () => {
    const client = await send(request('GET', '/unknown', CHUNKED));
    expect(errorOf(await client.answer())).to.equal(40400);
    expect((await client.send('zz\r\n').answers()).answers).to.deep.equal([]);
  });

  for (const [where, bytes] of Object.entries({
    'in a header': `GET /plants HTTP/1.1\r\n${HOST}`,
    'in a body': create(1).slice(0, -1),
  }))
    it(`answers 40000 if the client ends its side ${where}`, async () => {
      const { answers, ending } = await (await send(bytes)).finish().answers();
      expect(answers.map(errorOf)).to.deep.equal([40000]);
      expect(ending).to.equal('end');
      expect(await list()).to.equal('[]');
    });

  it('answers all requests before the client has ended its side', async () => {
    store.delayMs = A_MOMENT_MS;
    const { answers, ending } = await (await send(create(1) + LIST)).finish().answers();
    expect(answers.map(({ status }) => status)).to.deep.equal([200, 200]);
    expect(ending).to.equal('end');
  });

  for (const [what, head, chunk, times] of [
    [
      'a malformed request',
      `${POST}Content-Length: 22\r\nContent-Length: 22\r\n\r\n`,
      'x'.repeat(10_000),
      50,
    ],
    ['a large body', `${POST}Content-Length: 1000000\r\n\r\n`, 'x'.repeat(10_000), 100],
    ['large chunks', `${POST}${CHUNKED}\r\n`, `100000\r\n${'x'.repeat(2 ** 20)}\r\n`, 16],
  ] as const)
    it(`delivers its refusal to a client that reads only after it has sent ${what}`, async () => {
      const client = await send(head);
      client.socket.pause();
      client.send(chunk.repeat(times));
      client.socket.write('0\r\n\r\n', () => client.socket.resume());
      const { answers, ending } = await client.answers();
      expect(answers.map(errorOf)).to.deep.equal([what === 'a malformed request' ? 40000 : 41300]);
      expect(ending).to.equal('end');
    });

  it('sends no 100 Continue in HTTP/1.0', async () => {
    const [head, body] = create(1, 'Fern', 'Expect: 100-continue\r\n').split('\r\n\r\n') as [string, string];
    const client = await send(`${head.replace('HTTP/1.1', 'HTTP/1.0')}\r\n\r\n`);
    await delay(A_MOMENT_MS);
    expect((await client.send(body).answers()).answers.map(({ status }) => status)).to.deep.equal([200]);
  });

  it('is closed although the client sends without end', async () => {
    const client = await send(`${POST}Content-Length: 9000000000\r\n\r\n`);
    const sending = setInterval(() => client.send('x'.repeat(100_000)), 5);
    await new Promise((resolve) => client.socket.once('close', resolve));
    clearInterval(sending);
  });

  it('has one request at a time in the event store', async () => {
    store.delayMs = A_MOMENT_MS;
    const client = await send(LIST.repeat(10));
    for (let i = 0; i < 10; i++) expect((await client.answer()).status).to.equal(200);
    // At once, they would share a round.
    expect(store.trips).to.equal(10);
  });

  it('may have a thousand waiting requests, is reset beyond, and no other one is', async () => {
    store.delayMs = FOR_EVER_MS;
    const [greedy, modest] = [await send(), await send()];
    modest.send(LIST + SMALL.repeat(1000));
    greedy.send(LIST + SMALL.repeat(1100));
    await greedy.ended();
    store.delayMs = 0;
    for (let i = 0; i <= 1000; i++) await modest.answer();
  });

  it('is reset if the waiting requests of all connections exceed a total', async () => {
    store.delayMs = FOR_EVER_MS;
    const crowd = await Promise.all(Array.from({ length: 30 }, () => send()));
    let closed = 0;
    for (const client of crowd) {
      client.send(LIST + SMALL.repeat(1000));
      void client.ended().then(() => closed++);
    }
    await until(() => closed >= 5);
    // Each connection has been read: this one comes behind them.
    expect((await (await send(SMALL)).answer()).status).to.equal(404);
    expect(crowd.length - closed).to.be.within(5, 25);
  });

  it('serves ten thousand requests, and closes with the response to the last', async function () {
    this.slow(4000);
    const client = await send();
    const live = `GET /health/live HTTP/1.1\r\n${HOST}${END}`;
    for (let i = 1; i < 10_000; i++) {
      if (i % 500 === 1) client.send(live.repeat(Math.min(500, 10_000 - i)));
      expect((await client.answer()).fields.get('connection')).to.equal('keep-alive');
    }
    const { answers, ending } = await client.send(live + live).answers();
    expect(answers.map(({ fields }) => fields.get('connection'))).to.deep.equal(['close']);
    expect(ending).to.equal('end');
  });

  for (const [how, go] of Object.entries({
    'with a reset': (client: RawSocket) => client.reset(),
    'with a FIN': (client: RawSocket) => client.socket.destroy(),
  })) {
    it(`stores nothing if the client goes within a body ${how}`, async () => {
      // Without its last byte, the body is a plant as well, but not the whole body.
      const whole = request('POST', '/plants', '', '{"id":1,"name":"Fern"} ');
      for (const length of [whole.length - 1, whole.length - 5, whole.indexOf('\r\n\r\n') + 4]) {
        const client = await send(whole.slice(0, length));
        await delay(A_MOMENT_MS);
        go(client);
      }
      await until(() => service.log.filter((line) => line.includes('"msg":"request"')).length === 3);
      expect(await list()).to.equal('[]');
    });

    it(`stores a plant at most once if the client goes before the response ${how}`, async () => {
      store.delayMs = FOR_EVER_MS;
      const client = await send(create(1));
      await until(() => store.trips > 0);
      go(client);
      await until(() => client.socket.destroyed);
      expect(await list()).to.be.oneOf(['[]', '[{"name":"Fern"}]']);
    });
  }

  it('of a hundred clients that go delays no other one, and is no fault', async () => {
    store.delayMs = 20;
    await Promise.all(
      Array.from({ length: 100 }, async (_, i) => {
        const client = await send(i % 2 === 0 ? LIST : create(i).slice(0, -3));
        await delay(i % 10);
        client.reset();
      }),
    );
    expect(await list()).to.equal('[]');
    expect(service.log.filter((line) => /"level":[56]0/.test(line))).to.deep.equal([]);
  });
});
