import { once } from 'node:events';
import { expect } from 'chai';
import { BEGINNING } from '../../../../src/event-sourcing';
import { streamName } from '../../../../src/testing/a-stream';
import { encoded, created } from '../../../support/given';
import { errorOf } from '../../../support/http-answer';
import { RawSocket } from '../../../support/raw-socket';
import { AUTH, END, HOST, LIST, create, request } from '../../../support/requests';
import { SlowStore } from '../../../support/slow-store';
import { until } from '../../../support/until';
import { TOKENS, type WatchedService, startWatched } from '../../../support/watched-service';

const MAX = 3;
const OF_BOB = `Authorization: Bearer ${TOKENS.bob}\r\n`;

describe('requests of one user beyond MAX_USER_REQUESTS', () => {
  let store: SlowStore;
  let service: WatchedService;
  const clients: RawSocket[] = [];

  beforeEach(async () => {
    store = new SlowStore();
    service = await startWatched(
      { MAX_USER_REQUESTS: String(MAX), STORE_TIMEOUT_MS: '60000' },
      { eventStore: store },
    );
  });
  afterEach(async () => {
    store.delayMs = 0;
    for (const client of clients.splice(0)) client.reset();
    await service.stop();
  });

  async function send(bytes: string): Promise<RawSocket> {
    const client = await RawSocket.open(service.url);
    clients.push(client);
    return client.send(bytes);
  }
  async function ask(bytes: string) {
    return (await send(bytes)).answer(bytes.split(' ', 1)[0]);
  }
  /** As many requests in flight as the limit allows. */
  async function fill(): Promise<RawSocket[]> {
    const { trips } = store;
    store.delayMs = 60_000;
    const sent = [await send(LIST)];
    await until(() => store.trips === trips + 1);
    while (sent.length < MAX) sent.push(await send(LIST));
    // The connections are served in the order in which they were accepted.
    expect((await ask(LIST.replace(AUTH, ''))).status).to.equal(401);
    return sent;
  }

  it('are refused with 429/42900 and Retry-After, and change nothing', async () => {
    const sent = await fill();
    for (const bytes of [LIST, create(1), `OPTIONS /plants HTTP/1.1\r\n${HOST}${AUTH}${END}`]) {
      const answer = await ask(bytes);
      expect([answer.status, errorOf(answer)]).to.deep.equal([429, 42900]);
      expect(answer.fields.get('retry-after')).to.match(/^[12]$/);
    }
    store.delayMs = 0;
    for (const client of sent) expect((await client.answer()).body.toString()).to.equal('[]');
    expect((await ask(LIST)).body.toString()).to.equal('[]');
  });

  it('do not affect other users, nor requests without a user', async () => {
    await fill();
    const of = await send(LIST.replace(AUTH, OF_BOB));
    expect((await ask(`GET /health/live HTTP/1.1\r\n${HOST}${END}`)).status).to.equal(200);
    store.delayMs = 0;
    expect((await of.answer()).status).to.equal(200);
  });

  it('count until their work has ended, even if the client has disconnected', async () => {
    const sent = await fill();
    for (const client of sent) client.reset();
    expect((await ask(LIST)).status).to.equal(429);
    store.delayMs = 0;
    await until(async () => (await ask(LIST)).status === 200);
  });

  it('count until their response was read', async () => {
    // Far more than the buffers of a connection hold.
    const plants = Array.from({ length: 10_000 }, (_, id) => created(id, `${id} ${'long name '.repeat(98)}`));
    await store.append(streamName('plants/alice'), BEGINNING, 'a large list', encoded(...plants));
    const slow: RawSocket[] = [];
    while (slow.length < MAX) {
      const client = await send(LIST);
      await once(client.socket, 'data');
      slow.push(client);
      client.socket.pause();
    }
    expect((await ask(LIST)).status).to.equal(429);
    for (const client of slow) client.socket.resume();
    for (const client of slow) expect((await client.answer()).status).to.equal(200);
    await until(async () => (await ask(create(1))).status !== 429);
  });

  it('are counted in the metrics', async () => {
    await fill();
    await ask(LIST);
    const metrics = await (await fetch(`${service.url}/metrics`)).text();
    expect(metrics).to.match(/^http_request_failures_total\{reason="user_requests"\} 1$/m);
  });

  it('are accepted again, one for each response of any status', async () => {
    for (let i = 0; i < 5 * MAX; i++) {
      expect((await ask(LIST)).status).to.equal(200);
      expect((await ask(create(1, ''))).status).to.equal(400);
      expect((await ask(LIST.replace('/plants', '/plants/'))).status).to.equal(404);
    }
  });
});

describe('requests on many connections of one user', () => {
  it('do not let another user wait for all of them', async () => {
    const service = await startWatched();
    // Refused without a call to the store.
    const bytes = request('GET', '/plants?limit=x');
    const sent = [...Array<string>(200).fill(bytes), bytes.replace(AUTH, OF_BOB)];
    const clients = await Promise.all(sent.map(() => RawSocket.open(service.url)));
    const ask = (client: RawSocket, index: number) => client.send(sent[index]!).answer();
    // The service knows the user of a connection from its first request.
    await Promise.all(clients.map(ask));
    const answered: number[] = [];
    await Promise.all(
      clients.map(async (client, index) => {
        expect((await ask(client, index)).status).to.equal(400);
        answered.push(index);
      }),
    );
    for (const client of clients) client.reset();
    await service.stop();

    expect(answered.indexOf(200)).to.be.below(100);
  });
});
