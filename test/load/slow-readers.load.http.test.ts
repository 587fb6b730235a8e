import { expect } from 'chai';
import type { RawSocket } from '../support/raw-socket';
import { AUTH, HOST, JSON_TYPE, LIST, create, request } from '../support/requests';
import { served } from '../support/served';
import { until } from '../support/until';

/** About 10 MiB of JSON. */
const PLANTS = 10_000;
const MIB = 2 ** 20;
const STALLED = [
  `GET /plants HTTP/1.1\r\n${HOST}`,
  `POST /plants HTTP/1.1\r\n${HOST}${AUTH}${JSON_TYPE}Content-Length: 60000\r\n\r\n`,
  LIST,
];

describe('Clients that do not read a long list, or send slowly,', function () {
  this.slow(10_000);
  // A busy machine may take long to render a list.
  const edge = served({ REQUEST_TIMEOUT_MS: '3600000', STORE_TIMEOUT_MS: '60000' });
  beforeEach(() => edge().recordPlants(PLANTS));

  /** Sends this, and does not read the response. */
  async function stall(bytes: string): Promise<RawSocket> {
    const client = await edge().send();
    client.socket.pause();
    return client.send(bytes);
  }
  async function ask(bytes: string): Promise<void> {
    const client = await edge().send(bytes);
    expect((await client.answer()).status).to.equal(200);
    client.reset();
  }

  it('do not prevent other clients from being served, even if there are 500 of them', async () => {
    const clients: RawSocket[] = [];
    for (let i = 0; i < 500; i++) clients.push(await stall(STALLED[i % 3]!));
    const trickle = setInterval(() => clients.forEach((client) => client.socket.write('x')), 200);
    for (let id = PLANTS; id < PLANTS + 50; id++) {
      await ask(create(id));
      await ask(request('GET', '/plants?limit=10'));
    }
    clearInterval(trickle);
  });

  it('take bounded memory, even if each of them requests a different list', async () => {
    await ask(request('GET', '/plants?limit=0'));
    const before = process.memoryUsage().arrayBuffers;
    for (let i = 0; i < 48; i++) {
      await ask(create(PLANTS + i));
      const reader = await stall(LIST);
      // The list is on its way, or refused.
      await until(() => reader.socket.readableLength > 0);
    }
    expect(await edge().valueOf('http_long_lists')).to.equal(32);
    // All pieces of the last list may be cached, but only one or two of each other list. Whole lists
    // would take 320 MiB.
    expect((process.memoryUsage().arrayBuffers - before) / MIB).to.be.below(100);
    await ask(request('GET', '/plants?limit=10'));
  });
});
