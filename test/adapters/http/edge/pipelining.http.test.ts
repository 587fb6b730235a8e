import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'chai';
import { errorOf } from '../../../support/http-answer';
import { patient } from '../../../support/patience';
import { RawSocket } from '../../../support/raw-socket';
import { AUTH, END, HOST, JSON_TYPE, LIST, create, request } from '../../../support/requests';
import { SlowStore } from '../../../support/slow-store';
import { type WatchedService, startWatched } from '../../../support/watched-service';

const FOR_EVER_MS = 3_600_000;

describe('the requests of one connection', () => {
  let store: SlowStore;
  let service: WatchedService;
  /** Longer than an ordinary request takes, on a busy machine, too. */
  let requestTimeoutMs: number;

  beforeEach(async () => {
    requestTimeoutMs = Math.round(patient(1500));
    store = new SlowStore();
    service = await startWatched(
      { REQUEST_TIMEOUT_MS: String(requestTimeoutMs), STORE_TIMEOUT_MS: '60000' },
      { eventStore: store },
    );
  });
  afterEach(async () => {
    store.delayMs = 0;
    await service.stop();
  });

  /** What these bytes are answered with while the store takes `delayMs`, until the service ends the connection. */
  async function exchange(delayMs: number, ...bytes: string[]) {
    store.delayMs = delayMs;
    const client = await RawSocket.open(service.url);
    return client.send(...bytes).answers();
  }

  async function list(): Promise<string> {
    store.delayMs = 0;
    const client = await RawSocket.open(service.url);
    const { body } = await client.send(LIST).answer();
    client.socket.destroy();
    return body.toString();
  }

  it('are answered in their order, however many come at once', async () => {
    const client = await RawSocket.open(service.url);
    client.send(create(1, 'Fern') + LIST + create(2, 'Moss') + request('DELETE', '/plants/1') + LIST);
    const bodies = [];
    for (let i = 0; i < 5; i++) bodies.push((await client.answer()).body.toString());
    client.socket.destroy();

    expect(bodies).to.deep.equal([
      '{"name":"Fern"}',
      '[{"name":"Fern"}]',
      '{"name":"Moss"}',
      '',
      '[{"name":"Moss"}]',
    ]);
  });

  const INTRUDERS: Readonly<Record<string, string>> = {
    garbage: '\0garbage',
    'an unknown method': request('FLOURISH', '/plants'),
    'a header that is too large': `GET /plants HTTP/1.1\r\n${HOST}X-Large: ${'x'.repeat(20_000)}\r\n\r\n`,
    CONNECT: request('CONNECT', 'plants.example:443'),
    'half a request and no more in time': `GET /plants HTTP/1.1\r\n${HOST}`,
  };
  for (const [what, bytes] of Object.entries(INTRUDERS)) {
    it(`are never answered with what is due to another: the connection is cut at ${what} behind a slow one`, async () => {
      const { answers } = await exchange(FOR_EVER_MS, LIST + bytes);

      expect(answers).to.deep.equal([]);
    });
  }

  it('get all their answers where one of them says that it is the last, and nothing behind that is carried out', async () => {
    const { answers, ending } = await exchange(
      20,
      create(1) + request('GET', '/plants', 'Connection: close\r\n') + create(2),
    );

    expect(answers.map(({ status }) => status)).to.deep.equal([200, 200]);
    expect(ending).to.equal('end');
    expect(await list()).to.equal('[{"name":"Fern"}]');
  });

  it('are served up to the one whose answer closes the connection, and no further', async () => {
    const expecting = request('POST', '/plants', 'Expect: 100-continue\r\n', 'not json').replace(AUTH, '');
    const { answers } = await exchange(0, LIST + expecting + create(2));

    expect(answers.map(({ status }) => status)).to.deep.equal([200, 401]);
    expect(await list()).to.equal('[]');
  });

  const LAST: Readonly<Record<string, string>> = {
    'the client has asked for that': request('GET', '/plants', 'Connection: close\r\n'),
    'it was malformed': request('GET', '/plants', 'Host: b\r\n'),
    'it was no request': '\0garbage',
    'its body is too large': request('POST', '/plants', `${JSON_TYPE}Content-Length: 70000\r\n`),
  };
  for (const [why, bytes] of Object.entries(LAST)) {
    it(`are not carried out where they come behind the last answer, which was the last because ${why}`, async () => {
      const client = await RawSocket.open(service.url);
      await client.send(bytes).answer();
      const { trips } = store;
      client.send('x'.repeat(bytes.includes('70000') ? 70_000 : 0) + LIST + create(1));
      await delay(50);
      client.reset();

      expect(store.trips).to.equal(trips);
    });
  }

  it('are answered also where the client has said that it will send no more', async () => {
    store.delayMs = 50;
    const client = await RawSocket.open(service.url);
    const { answers, ending } = await client
      .send(create(1) + LIST)
      .finish()
      .answers();

    expect(answers.map(({ status }) => status)).to.deep.equal([200, 200]);
    expect(ending).to.equal('end');
  });

  it('take the event store’s time one after the other', async () => {
    store.delayMs = 30;
    const client = await RawSocket.open(service.url);
    const since = performance.now();
    client.send(LIST.repeat(10));
    for (let i = 0; i < 10; i++) await client.answer();
    client.socket.destroy();

    expect(store.trips).to.equal(10);
    expect(performance.now() - since).to.be.above(290);
  });

  it('may wait in line by the thousand', async () => {
    const client = await RawSocket.open(service.url);
    client.send(LIST.repeat(1000));
    for (let i = 0; i < 1000; i++) expect((await client.answer()).status).to.equal(200);
    client.reset();
  });

  it('may not be more: who brings them is cut off, and nobody else', async () => {
    store.delayMs = 60_000;
    const small = `GET /nothing HTTP/1.1\r\nHost: a\r\n\r\n`;
    const [greedy, modest] = [await RawSocket.open(service.url), await RawSocket.open(service.url)];
    modest.send(LIST + small.repeat(1000));
    greedy.send(LIST + small.repeat(1100));
    await greedy.ended();
    await delay(50);
    expect(modest.socket.destroyed).to.equal(false);
    modest.reset();
  });

  it('may wait in line on all connections together in large numbers, but not without bound: who then brings more is cut off', async () => {
    store.delayMs = 60_000;
    const small = `GET /nothing HTTP/1.1\r\nHost: a\r\n\r\n`;
    const crowd = await Promise.all(Array.from({ length: 30 }, () => RawSocket.open(service.url)));
    let cut = 0;
    for (const client of crowd) {
      client.send(LIST + small.repeat(1000));
      void client.ended().then(() => cut++);
    }
    while (cut < 5) await delay(20);
    await delay(200);
    const left = crowd.length - cut;
    const other = await RawSocket.open(service.url);
    const { status } = await other.send(small).answer();
    [...crowd, other].forEach((client) => client.reset());

    expect(left).to.be.within(5, 25);
    expect(status).to.equal(404);
  });

  it('are ten thousand at most; the last answer says so', async function () {
    this.slow(4000);
    const client = await RawSocket.open(service.url);
    const live = `GET /health/live HTTP/1.1\r\n${HOST}${END}`;
    for (let i = 1; i < 10_000; i++) {
      if (i % 50 === 1) client.send(live.repeat(Math.min(50, 10_000 - i)));
      expect((await client.answer()).fields.get('connection')).to.equal('keep-alive');
    }
    const { answers, ending } = await client.send(live + live).answers();

    expect(answers.map(({ fields }) => fields.get('connection'))).to.deep.equal(['close']);
    expect(ending).to.equal('end');
  });

  it('are refused in time where the body does not come, and then not carried out', async () => {
    await exchange(0, create(1, 'Fern', 'Connection: close\r\n'));
    const started = performance.now();
    const { answers } = await exchange(0, request('DELETE', '/plants/1', 'Content-Length: 5\r\n'), '1234');

    expect(answers).to.have.length(1);
    expect(errorOf(answers[0]!)).to.equal(40800);
    expect(performance.now() - started).to.be.above(requestTimeoutMs - 10);
    expect(await list()).to.equal('[{"name":"Fern"}]');
  });

  it('are not carried out where the rest of the body comes behind the refusal', async () => {
    const client = await RawSocket.open(service.url);
    const whole = create(1);
    client.send(whole.slice(0, -1));
    const { status } = await client.answer();
    client.send(whole.slice(-1));
    await client.ended();
    await delay(50);

    expect(status).to.equal(408);
    expect(await list()).to.equal('[]');
  });
});
