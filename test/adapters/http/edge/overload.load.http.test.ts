import { expect } from 'chai';
import { type Answer, errorOf } from '../../../support/http-answer';
import { RawSocket } from '../../../support/raw-socket';
import { END, HOST, LIST, create } from '../../../support/requests';
import { ServiceApart } from '../../../support/service-apart';
import { until } from '../../../support/until';

const LONG = process.env['LONG'] === '1';
const WAVES = LONG ? 20 : 2;
const CLIENTS = 1250;
/** What one user may have waiting; see bootstrap. */
const MAX_WAITING = 1024;
/** One request is in the round that waits for the store, MAX_WAITING wait for the next. */
const EXCESS = CLIENTS - 1 - MAX_WAITING;
/** Many times what a wave takes. */
const STORE_TIMEOUT_MS = 10_000;
const FOR_EVER_MS = 3_600_000;
const MIB = 2 ** 20;
const HEALTH = `GET /health/live HTTP/1.1\r\n${HOST}${END}`;

describe('with more requests than the store can take', function () {
  this.timeout(600_000).slow(60_000);
  let service: ServiceApart;
  const clients: RawSocket[] = [];

  before(async () => {
    service = await ServiceApart.start({ STORE_TIMEOUT_MS: String(STORE_TIMEOUT_MS) });
    while (clients.length < CLIENTS) clients.push(await RawSocket.open(service.url));
  });
  after(async () => {
    clients.forEach((client) => client.reset());
    await service.stop();
  });

  /** One request on each of these connections at once. Adds the answers as they come, and resolves after the last. */
  async function wave(
    bytes: (client: number) => string,
    of = clients,
    answers: Answer[] = [],
  ): Promise<Answer[]> {
    await Promise.all(of.map(async (client, i) => answers.push(await client.send(bytes(i)).answer())));
    return answers;
  }

  function expectUnavailable(answers: readonly Answer[]): void {
    expect(new Set(answers.map(({ status }) => status))).to.deep.equal(new Set([503]));
  }

  /** Fills the queue of a store that does not reply. Then the store replies, or the waiting requests run out of time. */
  async function overload(storeReplies: boolean): Promise<void> {
    const { trips } = await service.condition({ storeDelayMs: FOR_EVER_MS });
    const [first, ...others] = clients;
    const answers: Answer[] = [];
    const alone = wave(() => LIST, [first!]);
    await until(async () => (await service.condition()).trips > trips);
    const waves = wave((client) => (client % 2 === 0 ? LIST : create(client)), others, answers);

    await until(() => answers.length >= EXCESS);
    if (storeReplies) await service.condition({ storeDelayMs: 0 });
    await waves;
    const excess = answers.slice(0, EXCESS);
    expectUnavailable(excess);
    expect(new Set(excess.map(errorOf))).to.deep.equal(new Set([50300]));
    const waited = [...(await alone), ...answers.slice(EXCESS)];
    if (storeReplies) expect(waited.filter(({ status }) => status === 503)).to.deep.equal([]);
    else expectUnavailable(waited);
    expect((await service.condition({ storeDelayMs: 0 })).trips - trips).to.be.below(10);
  }

  async function recovery(): Promise<void> {
    const answers = await wave((client) => (client < 500 ? LIST : HEALTH));
    expect(new Set(answers.map(({ status }) => status))).to.deep.equal(new Set([200]));
  }

  it('the queue is bounded, the excess hears so quickly, memory stays flat, and all is well once the store is', async () => {
    const heaps: number[] = [];
    await wave(() => LIST);
    for (let i = 0; i < WAVES; i++) {
      await overload(i % 4 !== 1);
      await recovery();
      const { heap, faults } = await service.condition();
      expect(faults).to.deep.equal([]);
      heaps.push(heap);
    }

    // Each wave is 2500 requests: an object of 25 bytes that outlives its request shows in the long run, one of 500 in the short.
    expect((heaps.at(-1)! - heaps[0]!) / MIB, `heaps ${heaps.join()}`).to.be.below(1);
  });
});
