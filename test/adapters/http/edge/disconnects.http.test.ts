import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'chai';
import { RawSocket } from '../../../support/raw-socket';
import { LIST, create } from '../../../support/requests';
import { SlowStore } from '../../../support/slow-store';
import { type WatchedService, startWatched } from '../../../support/watched-service';

/** Long enough for the service to read what was sent, and for a wrong effect to show. */
const A_MOMENT_MS = 60;

describe('a client that disconnects', () => {
  let store: SlowStore;
  let service: WatchedService;

  beforeEach(async () => {
    store = new SlowStore();
    service = await startWatched({}, { eventStore: store });
  });
  afterEach(() => service.stop());

  async function names(): Promise<string[]> {
    store.delayMs = 0;
    const client = await RawSocket.open(service.url);
    const { body } = await client.send(LIST).answer();
    client.reset();
    return (JSON.parse(body.toString()) as { name: string }[]).map(({ name }) => name);
  }

  const WAYS: Readonly<Record<string, (client: RawSocket) => unknown>> = {
    'with a reset': (client) => client.reset(),
    'with a FIN': (client) => client.socket.destroy(),
  };
  for (const [how, go] of Object.entries(WAYS)) {
    it(`stores nothing if it disconnects within a body (${how})`, async () => {
      const whole = create(1);
      for (const length of [whole.length - 1, whole.length - 5, whole.indexOf('\r\n\r\n') + 4]) {
        const client = await RawSocket.open(service.url);
        client.send(whole.slice(0, length));
        await delay(A_MOMENT_MS);
        go(client);
      }
      await delay(A_MOMENT_MS);

      expect(await names()).to.deep.equal([]);
    });

    it(`stores a plant at most once if it disconnects before the response (${how})`, async () => {
      store.delayMs = A_MOMENT_MS;
      for (const id of [1, 2, 3]) {
        const client = await RawSocket.open(service.url);
        client.send(create(id, `Fern ${id}`));
        await delay(A_MOMENT_MS / 2);
        go(client);
      }
      await delay(3 * A_MOMENT_MS);

      const stored = await names();
      expect(new Set(stored).size).to.equal(stored.length);
      expect(['Fern 1', 'Fern 2', 'Fern 3']).to.include.members(stored);
    });
  }

  it('does not delay other clients', async () => {
    store.delayMs = 20;
    await Promise.all(
      Array.from({ length: 100 }, async (_, i) => {
        const client = await RawSocket.open(service.url);
        client.send(i % 2 === 0 ? LIST : create(i).slice(0, -3));
        await delay(i % 10);
        client.reset();
      }),
    );

    expect(await names()).to.deep.equal([]);
    expect(service.log.filter((line) => /"level":[56]0/.test(line))).to.deep.equal([]);
  });
});
