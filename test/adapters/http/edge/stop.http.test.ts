import { streamName } from '../../../../src/testing/a-stream';
import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'chai';
import { encoded, created } from '../../../support/given';
import { BEGINNING } from '../../../../src/event-sourcing';
import { MemoryEventStore } from '../../../../src/adapters/memory/event-store';
import { parseAnswer } from '../../../support/http-answer';
import { RawSocket } from '../../../support/raw-socket';
import { HOST, LIST, create } from '../../../support/requests';
import { SlowStore } from '../../../support/slow-store';
import { until } from '../../../support/until';
import { type WatchedService, startWatched } from '../../../support/watched-service';

/** Many times the duration of a request. */
const NOTICE_MS = 1500;

describe('a service that stops', () => {
  let service: WatchedService;

  async function start(overrides: Parameters<typeof startWatched>[1], environment = {}): Promise<void> {
    service = await startWatched(environment, overrides);
  }

  async function stop(noticeMs?: number): Promise<{ clean: boolean; took: number }> {
    const since = performance.now();
    return { clean: await service.stop(noticeMs), took: performance.now() - since };
  }

  it('stops at once if no request is in progress, also with open connections', async () => {
    await start({});
    const silent = await RawSocket.open(service.url);
    const idle = await RawSocket.open(service.url);
    await idle.send(LIST).answer();
    const halfway = (await RawSocket.open(service.url)).send(`GET /plants HTTP/1.1\r\n${HOST}`);
    const ends = Promise.all([silent.ended(), idle.ended(), halfway.ended()]);

    // True: it did not wait for the deadline.
    expect((await stop()).clean).to.equal(true);
    expect(await ends).to.deep.equal(['end', 'end', 'end']);
  });

  it('answers all requests that have arrived, also pipelined ones, and closes each connection after its last response', async () => {
    const store = new SlowStore();
    store.delayMs = 100;
    await start({ eventStore: store });
    const client = await RawSocket.open(service.url);
    client.send(create(1) + LIST + create(2) + LIST);
    await until(() => store.trips > 0);

    const [{ clean }, { answers }] = await Promise.all([stop(), client.answers()]);
    expect(clean).to.equal(true);
    expect(answers.map(({ status }) => status)).to.deep.equal([200, 200, 200, 200]);
    expect(answers.map(({ fields }) => fields.get('connection'))).to.deep.equal([
      'keep-alive',
      'keep-alive',
      'keep-alive',
      'close',
    ]);
  });

  it('answers a request that was sent on a connection that it had not closed yet', async () => {
    await start({});
    const client = await RawSocket.open(service.url);
    await client.send(LIST).answer();

    const stopped = stop();
    const { answers, ending } = await client.send(LIST).answers();
    expect(answers.map(({ fields }) => fields.get('connection'))).to.deep.equal(['close']);
    expect(ending).to.equal('end');
    expect((await stopped).clean).to.equal(true);
  });

  it('answers a request that is on the network when the signal arrives', async function () {
    // On a busy machine the request may be sent too late, which proves nothing.
    this.retries(3);
    await start({});
    const client = await RawSocket.open(service.url);
    await client.send(LIST).answer();

    const stopped = stop();
    await delay(20);
    const { answers, ending } = await client.send(LIST).answers();
    expect((await stopped).clean).to.equal(true);
    expect(answers.map(({ fields }) => fields.get('connection'))).to.deep.equal(['close']);
    expect(ending).to.equal('end');
  });

  it('accepts new connections during the notice, and closes each after its response', async () => {
    await start({});
    const stopped = stop(NOTICE_MS);
    const client = await RawSocket.open(service.url);
    const { answers } = await client.send(LIST).answers();

    expect(answers.map(({ fields }) => fields.get('connection'))).to.deep.equal(['close']);
    expect((await stopped).took).to.be.above(NOTICE_MS - 10);
    expect(await RawSocket.open(service.url).catch(() => 'refused')).to.equal('refused');
  });

  it('drains the accept queue at the end of the notice, however busy it was', async () => {
    await start({});
    const stopped = stop(50);
    const queued = Array.from({ length: 50 }, () => RawSocket.open(service.url));
    await new Promise(process.nextTick);
    const end = performance.now() + 80;
    while (performance.now() < end);
    const answered = await Promise.all(
      queued.map(async (client) => (await (await client).send(LIST).answers()).answers.length),
    );

    expect(answered).to.deep.equal(Array(50).fill(1));
    expect((await stopped).clean).to.equal(true);
  });

  it('sends a large list completely to a slow client', async () => {
    const store = new MemoryEventStore();
    const plants = Array.from({ length: 15_000 }, (_, id) => created(id, 'long name '.repeat(100)));
    await store.append(streamName('alice'), BEGINNING, 'a large list', encoded(...plants));
    await start({ eventStore: store });
    const client = await RawSocket.open(service.url);
    client.socket.pause();
    client.send(LIST);
    await until(() => client.socket.readableLength > 0);

    const stopped = stop();
    await delay(500);
    client.socket.resume();
    await client.ended();
    expect((await stopped).clean).to.equal(true);
    const [answer, rest] = parseAnswer(client.unread, 'GET')!;
    expect(JSON.parse(answer.body.toString())).to.have.length(15_000);
    expect(rest).to.have.length(0);
  });

  it('closes the connections that remain at the deadline, and reports that', async () => {
    await start({}, { SHUTDOWN_TIMEOUT_MS: '300' });
    const client = await RawSocket.open(service.url);
    client.send(create(1, 'Fern', 'Expect: 100-continue\r\n').slice(0, -1));
    expect((await client.answer()).status).to.equal(100);

    const { clean, took } = await stop(5000);
    expect(clean).to.equal(false);
    expect(took).to.be.above(290);
    await client.ended();
  });

  it('closes the connections that it accepts after the deadline', async () => {
    const store = new SlowStore();
    store.delayMs = 60_000;
    await start({ eventStore: store }, { SHUTDOWN_TIMEOUT_MS: '0' });
    const stopped = stop();
    const queued = RawSocket.open(service.url);
    await new Promise(process.nextTick);
    // The client connects and the deadline passes, before the event loop accepts the connection.
    const end = performance.now() + 50;
    while (performance.now() < end);
    (await queued).send(LIST);
    // Otherwise the request would be answered after the timeout of the store.
    expect((await stopped).took).to.be.below(1500);
  });
});
