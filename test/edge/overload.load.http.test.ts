import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'chai';
import { errorOf, expectContract } from '../support/contract-answer';
import type { Answer } from '../support/http-answer';
import { RawSocket } from '../support/raw-socket';
import { END, HOST, LIST, create } from '../support/requests';
import { ServiceApart } from '../support/service-apart';
import { until } from '../support/until';

const WAVES = process.env['LONG'] === '1' ? 20 : 2;
const CLIENTS = 1250;
/** What one user may have waiting; see bootstrap. */
const MAX_WAITING = 1024;
const STORE_TIMEOUT_MS = 2500;
const MIB = 2 ** 20;
const HEALTH = `GET /health/live HTTP/1.1\r\n${HOST}${END}`;

describe('with more requests than the store can take', function () {
  this.timeout(180_000).slow(60_000);
  let service: ServiceApart;
  const clients: RawSocket[] = [];

  before(async () => {
    service = await ServiceApart.start({ STORE_TIMEOUT_MS: String(STORE_TIMEOUT_MS) });
    while (clients.length < CLIENTS) clients.push(await RawSocket.open(service.url));
  });
  after(async () => {
    clients.forEach((client) => client.vanish());
    await service.stop();
  });

  interface Answered {
    readonly answer: Answer;
    readonly took: number;
  }

  /** One request on each of these connections at once: the answers, and after how many ms each came. */
  async function wave(bytes: (client: number) => string, of = clients): Promise<Answered[]> {
    const since = performance.now();
    return Promise.all(
      of.map(async (client, i) => {
        const answer = await client.send(bytes(i)).answer();
        return { answer, took: performance.now() - since };
      }),
    );
  }

  async function overload(): Promise<void> {
    const { trips } = await service.condition({ storeDelayMs: 60_000 });
    const [first, ...others] = clients;
    const alone = wave(() => LIST, [first!]);
    await until(async () => (await service.condition()).trips > trips);
    const answers = await wave((client) => (client % 2 === 0 ? LIST : create(client)), others);
    answers.push(...(await alone));

    answers.sort((a, b) => a.took - b.took);
    // One is in the round that waits for the store; the next takes whoever may wait.
    const quick = answers.slice(0, CLIENTS - MAX_WAITING - 1);
    expect(quick.at(-1)!.took).to.be.below(STORE_TIMEOUT_MS - 100);
    expect(answers[quick.length]!.took).to.be.above(STORE_TIMEOUT_MS - 100);
    expect(answers.at(-1)!.took).to.be.below(2 * STORE_TIMEOUT_MS);
    for (const { answer } of answers) {
      expectContract(answer);
      expect(answer.status).to.equal(503);
    }
    for (const { answer } of quick) expect(errorOf(answer)).to.equal(50300);
    expect((await service.condition({ storeDelayMs: 0 })).trips - trips).to.be.below(10);
  }

  async function recovery(): Promise<void> {
    await delay(50);
    const answers = await wave((client) => (client < 500 ? LIST : HEALTH));
    expect(new Set(answers.map(({ answer }) => answer.status))).to.deep.equal(new Set([200]));
  }

  it('the queue is bounded, the excess hears so quickly, memory stays flat, and all is well once the store is', async () => {
    const heaps: number[] = [];
    await wave(() => LIST);
    for (let i = 0; i < WAVES; i++) {
      await overload();
      await recovery();
      const { heap, faults } = await service.condition();
      expect(faults).to.deep.equal([]);
      heaps.push(heap);
    }

    // Each wave is 2500 requests: an object of 25 bytes that outlives its request shows in the long run, one of 500 in the short.
    expect((heaps.at(-1)! - heaps[0]!) / MIB, `heaps ${heaps.join()}`).to.be.below(1);
  });
});
