import { streamName } from '../../../../src/testing/a-stream';
import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'chai';
import { MemoryEventStore } from '../../../../src/adapters/memory/event-store';
import { BEGINNING } from '../../../../src/event-sourcing';
import { encoded, created } from '../../../support/given';
import { RawSocket } from '../../../support/raw-socket';
import { AUTH, HOST, JSON_TYPE, LIST, create, request } from '../../../support/requests';
import { unsentAfterClose } from '../../../support/system-sockets';
import { until } from '../../../support/until';
import { type WatchedService, startWatched } from '../../../support/watched-service';

const LONG = process.env['LONG'] === '1';
const SLOW_CLIENTS = 500;
/** About 10 MiB of JSON in both cases, far more than the buffers of a connection hold. */
const PLANTS = LONG ? 100_000 : 10_000;
const NAME = 'long name '.repeat(LONG ? 8 : 98);
const MIB = 2 ** 20;
const FOR_EVER_MS = 3_600_000;

const SLOWLORIS = `GET /plants HTTP/1.1\r\n${HOST}`;
const SLOW_BODY = `POST /plants HTTP/1.1\r\n${HOST}${AUTH}${JSON_TYPE}Content-Length: 60000\r\n\r\n`;

describe('slow clients', function () {
  this.slow(10_000);
  let service: WatchedService;
  const clients: RawSocket[] = [];

  async function start(requestTimeoutMs: number): Promise<void> {
    const store = new MemoryEventStore();
    const plants = Array.from({ length: PLANTS }, (_, id) => created(id, `${id} ${NAME}`));
    await store.append(streamName('plants/alice'), BEGINNING, 'a-large-list', encoded(...plants));
    // A busy machine may take long to render a list.
    const timeouts = { REQUEST_TIMEOUT_MS: String(requestTimeoutMs), STORE_TIMEOUT_MS: '60000' };
    service = await startWatched(timeouts, { eventStore: store });
    await ask(request('GET', '/plants?limit=0'));
  }
  afterEach(async () => {
    for (const client of clients.splice(0)) client.reset();
    await service.stop();
  });

  /** Sends this, and does not read the response. */
  async function stall(bytes: string): Promise<RawSocket> {
    const client = await RawSocket.open(service.url);
    client.socket.pause();
    clients.push(client);
    return client.send(bytes);
  }

  /** The latency of an ordinary request, in ms. */
  async function ask(bytes: string): Promise<number> {
    const since = performance.now();
    const client = await RawSocket.open(service.url);
    const { status } = await client.send(bytes.replace('\r\n\r\n', '\r\nConnection: close\r\n\r\n')).answer();
    client.reset();
    expect(status).to.equal(200);
    return performance.now() - since;
  }

  /** The same for fifty creates and fifty short lists, in ascending order. */
  async function waitsOf(firstId: number): Promise<number[]> {
    const waits: number[] = [];
    for (let id = firstId; id < firstId + 50; id++) {
      waits.push(await ask(create(id)), await ask(request('GET', '/plants?limit=10')));
      await delay(5);
    }
    return waits.sort((a, b) => a - b);
  }

  async function valueOf(metric: string): Promise<number> {
    const text = await (await fetch(`${service.url}/metrics`, { headers: { connection: 'close' } })).text();
    return Number(new RegExp(`^${metric} (\\S+)$`, 'm').exec(text)![1]);
  }

  /** The number of open connections, including the one that asks. */
  const connections = () => valueOf('http_connections');

  it(`do not delay other clients, ${SLOW_CLIENTS} of them at once`, async () => {
    await start(5000);
    const alone = await waitsOf(PLANTS);
    for (let i = 0; i < SLOW_CLIENTS; i++) await stall([SLOWLORIS, SLOW_BODY, LIST][i % 3]!);
    const trickle = setInterval(() => clients.forEach((client) => client.socket.write('x')), 200);

    const waits = await waitsOf(PLANTS + 50);
    clearInterval(trickle);

    const median = (times: number[]) => times[times.length / 2]!;
    expect(median(waits)).to.be.below(10 * median(alone) + 20);
  });

  it('share the memory of one response if all have stopped reading the same large list', async () => {
    await start(FOR_EVER_MS);
    await stall(LIST);
    await delay(100);
    const one = process.memoryUsage().rss;
    for (let i = 0; i < (LONG ? 300 : 100); i++) await stall(LIST);
    await delay(200);

    expect((process.memoryUsage().rss - one) / MIB).to.be.below(LONG ? 200 : 100);
  });

  it('take bounded memory if each has stopped reading a different large list', async () => {
    await start(FOR_EVER_MS);
    const before = process.memoryUsage().arrayBuffers;
    const lists = LONG ? 80 : 48;
    for (let i = 0; i < lists; i++) {
      await ask(create(PLANTS + i));
      const reader = await stall(LIST);
      // The list is on its way, or refused.
      await until(() => reader.socket.readableLength > 0);
    }
    const grown = () => (process.memoryUsage().arrayBuffers - before) / MIB;
    expect(await valueOf('http_long_lists')).to.equal(32);
    await delay(1000);

    // Of the last list, all pieces may be cached; of each other one, a piece or two. As whole texts, they would take 320 MiB.
    expect(grown()).to.be.below(100);
    if (process.platform === 'linux') expect(unsentAfterClose(service.url)).to.equal(0);
    await ask(request('GET', '/plants?limit=10'));
  });

  it('are disconnected if they do not read their response for too long', async () => {
    await start(500);
    // Rendered before, so that the timeout starts at once.
    await ask(LIST);
    const reader = await stall(LIST);
    await until(() => reader.socket.readableLength > 0);
    await until(async () => (await connections()) === 1);
    if (process.platform === 'linux') expect(unsentAfterClose(service.url)).to.equal(0);
    reader.socket.resume();
    await reader.ended();

    expect(reader.unread.length / MIB).to.be.within(0.01, 9);
  });

  it('are disconnected if they read their response too slowly, although they never stop', async () => {
    await start(500);
    const reader = await stall(LIST);
    // 16 KiB in the timeout, a quarter of what it takes.
    const reading = setInterval(() => void reader.socket.read(1024), 30);
    try {
      await until(async () => (await connections()) === 1);
    } finally {
      clearInterval(reading);
    }
    reader.socket.resume();
    await reader.ended();

    expect(reader.unread.length / MIB).to.be.within(0.01, 9);
  });
});
