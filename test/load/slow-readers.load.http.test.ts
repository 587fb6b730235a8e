import { expect } from 'chai';
import { MemoryEventStore } from '../../src/adapters/memory/event-store';
import { BEGINNING } from '../../src/event-sourcing';
import { streamName } from '../../src/testing/a-stream';
import { created, encoded } from '../support/given';
import { metricOf } from '../support/metrics';
import { RawSocket } from '../support/raw-socket';
import { AUTH, HOST, JSON_TYPE, LIST, create, request } from '../support/requests';
import { unsentAfterClose } from '../support/system-sockets';
import { until } from '../support/until';
import { type WatchedService, startWatched } from '../support/watched-service';

/** About 10 MiB of JSON, far more than the buffers of a connection hold. */
const PLANTS = 10_000;
const NAME = 'long name '.repeat(98);
const MIB = 2 ** 20;
const FOR_EVER_MS = 3_600_000;
const STALLED = [
  `GET /plants HTTP/1.1\r\n${HOST}`,
  `POST /plants HTTP/1.1\r\n${HOST}${AUTH}${JSON_TYPE}Content-Length: 60000\r\n\r\n`,
  LIST,
];

describe('Clients that do not read a long list, or send slowly,', function () {
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

  async function ask(bytes: string): Promise<void> {
    const client = await RawSocket.open(service.url);
    expect((await client.send(bytes).answer()).status).to.equal(200);
    client.reset();
  }

  const valueOf = (metric: string) => metricOf(service.url, metric, { connection: 'close' });
  /** Until only the connection that asks is left, and the system sends nothing more. */
  async function disconnected(): Promise<void> {
    await until(async () => (await valueOf('http_connections')) === 1);
    if (process.platform === 'linux') expect(unsentAfterClose(service.url)).to.equal(0);
  }

  it('do not keep others from being served, 500 of them at once', async () => {
    await start(FOR_EVER_MS);
    for (let i = 0; i < 500; i++) await stall(STALLED[i % 3]!);
    const trickle = setInterval(() => clients.forEach((client) => client.socket.write('x')), 200);
    for (let id = PLANTS; id < PLANTS + 50; id++) {
      await ask(create(id));
      await ask(request('GET', '/plants?limit=10'));
    }
    clearInterval(trickle);
  });

  it('take bounded memory, although each reads another list', async () => {
    await start(FOR_EVER_MS);
    const before = process.memoryUsage().arrayBuffers;
    for (let i = 0; i < 48; i++) {
      await ask(create(PLANTS + i));
      const reader = await stall(LIST);
      // The list is on its way, or refused.
      await until(() => reader.socket.readableLength > 0);
    }
    expect(await valueOf('http_long_lists')).to.equal(32);
    // Of the last list, all pieces may be cached; of each other one, a piece or two. As whole texts, they would take 320 MiB.
    expect((process.memoryUsage().arrayBuffers - before) / MIB).to.be.below(100);
    if (process.platform === 'linux') expect(unsentAfterClose(service.url)).to.equal(0);
    await ask(request('GET', '/plants?limit=10'));
  });

  for (const [how, bytesRead] of [
    ['they do not read', 0],
    // In 30 ms: a quarter of what the limit asks for.
    ['they read too slowly, although they never stop', 1024],
  ] as const)
    it(`are disconnected if ${how}`, async () => {
      await start(500);
      const reader = await stall(LIST);
      const reading = setInterval(() => bytesRead > 0 && void reader.socket.read(bytesRead), 30);
      await disconnected().finally(() => clearInterval(reading));
      reader.socket.resume();
      await reader.ended();
      expect(reader.unread.length / MIB).to.be.below(9);
    });
});
