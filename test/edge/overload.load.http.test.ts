import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'chai';
import { errorOf, expectContract } from '../support/contract-answer';
import { heapAfterGc } from '../support/heap';
import type { Answer } from '../support/http-answer';
import { RawSocket } from '../support/raw-socket';
import { END, HOST, LIST, create } from '../support/requests';
import { SlowStore } from '../support/slow-store';
import { type WatchedService, startWatched } from '../support/watched-service';

const WAVES = 1;
const CLIENTS = 1250;
/** What one user may have waiting; see bootstrap. */
const MAX_WAITING = 1024;
const STORE_TIMEOUT_MS = 3000;
const MIB = 2 ** 20;
const HEALTH = `GET /health/live HTTP/1.1\r\n${HOST}${END}`;

describe('with more requests than the store can take', function () {
  this.timeout(90_000).slow(30_000);
  let store: SlowStore;
  let service: WatchedService;
  const clients: RawSocket[] = [];

  before(async () => {
    store = new SlowStore();
    service = await startWatched({ STORE_TIMEOUT_MS: String(STORE_TIMEOUT_MS) }, { eventStore: store });
    while (clients.length < CLIENTS) clients.push(await RawSocket.open(service.url));
  });
  after(async () => {
    store.delayMs = 0;
    clients.forEach((client) => client.vanish());
    await service.stop();
  });

  /** One request on every connection at once: the answers, and after how many ms each came. */
  async function wave(bytes: (client: number) => string): Promise<{ answer: Answer; took: number }[]> {
    const since = performance.now();
    return Promise.all(
      clients.map(async (client, i) => {
        const answer = await client.send(bytes(i)).answer();
        return { answer, took: performance.now() - since };
      }),
    );
  }

  it('the queue is bounded, the excess hears so quickly, memory stays flat, and all is well once the store is', async () => {
    await wave(() => LIST);
    const heap = heapAfterGc();

    for (let i = 0; i < WAVES; i++) {
      store.delayMs = 60_000;
      const trips = store.trips;
      const answers = await wave((client) => (client % 2 === 0 ? LIST : create(client)));

      // One is in the round that waits for the store.
      const quick = answers.filter(({ took }) => took < STORE_TIMEOUT_MS - 500);
      expect(quick).to.have.length(CLIENTS - MAX_WAITING - 1);
      for (const { answer, took } of answers) {
        expectContract(answer);
        expect(answer.status).to.equal(503);
        expect(took).to.be.below(STORE_TIMEOUT_MS + 1000);
      }
      for (const { answer } of quick) expect(errorOf(answer)).to.equal(50300);
      expect(store.trips - trips).to.be.below(10);

      store.delayMs = 0;
      await delay(50);
      const statuses = (await wave((client) => (client < 500 ? LIST : HEALTH))).map(
        ({ answer }) => answer.status,
      );
      expect(new Set(statuses)).to.deep.equal(new Set([200]));
    }

    expect((heapAfterGc() - heap) / MIB).to.be.below(10);
  });
});
