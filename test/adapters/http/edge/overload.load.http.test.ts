import { expect } from 'chai';
import { type Answer, errorOf } from '../../../support/http-answer';
import { RawSocket } from '../../../support/raw-socket';
import { END, HOST, LIST, create } from '../../../support/requests';
import { IsolatedService } from '../../../support/isolated-service';
import { until } from '../../../support/until';

const LONG = process.env['LONG'] === '1';
const WAVES = LONG ? 20 : 2;
const CLIENTS = 1250;
/** The limit of waiting requests of one user; see bootstrap. */
const MAX_WAITING = 1024;
/** One request is in the round in flight, MAX_WAITING wait for the next round. */
const EXCESS = CLIENTS - 1 - MAX_WAITING;
/** Many times the duration of a wave. */
const STORE_TIMEOUT_MS = 10_000;
const FOR_EVER_MS = 3_600_000;
const MIB = 2 ** 20;
const HEALTH = `GET /health/live HTTP/1.1\r\n${HOST}${END}`;

describe('more requests than the store can handle', function () {
  this.timeout(600_000).slow(60_000);
  let service: IsolatedService;
  const clients: RawSocket[] = [];

  before(async () => {
    service = await IsolatedService.start({ STORE_TIMEOUT_MS: String(STORE_TIMEOUT_MS) });
    while (clients.length < CLIENTS) clients.push(await RawSocket.open(service.url));
  });
  after(async () => {
    clients.forEach((client) => client.reset());
    await service.stop();
  });

  /** Sends one request on each of these connections at once. Adds the responses as they arrive, and resolves after the last. */
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

  /** Fills the queue of a store that does not reply. Then the store replies, or the waiting requests time out. */
  async function overload(storeReplies: boolean): Promise<void> {
    const { trips } = await service.status({ storeDelayMs: FOR_EVER_MS });
    const [first, ...others] = clients;
    const answers: Answer[] = [];
    const alone = wave(() => LIST, [first!]);
    await until(async () => (await service.status()).trips > trips);
    const waves = wave((client) => (client % 2 === 0 ? LIST : create(client)), others, answers);

    await until(() => answers.length >= EXCESS);
    if (storeReplies) await service.status({ storeDelayMs: 0 });
    await waves;
    const excess = answers.slice(0, EXCESS);
    expectUnavailable(excess);
    expect(new Set(excess.map(errorOf))).to.deep.equal(new Set([50300]));
    const waited = [...(await alone), ...answers.slice(EXCESS)];
    if (storeReplies) expect(waited.filter(({ status }) => status === 503)).to.deep.equal([]);
    else expectUnavailable(waited);
    expect((await service.status({ storeDelayMs: 0 })).trips - trips).to.be.below(10);
  }

  async function recovery(): Promise<void> {
    const answers = await wave((client) => (client < 500 ? LIST : HEALTH));
    expect(new Set(answers.map(({ status }) => status))).to.deep.equal(new Set([200]));
  }

  it('are refused quickly beyond the queue limit, in constant memory, and are served again once the store is available', async () => {
    const heaps: number[] = [];
    await wave(() => LIST);
    for (let i = 0; i < WAVES; i++) {
      await overload(i % 4 !== 1);
      await recovery();
      const { heap, faults } = await service.status();
      expect(faults).to.deep.equal([]);
      heaps.push(heap);
    }

    // A wave has 2,500 requests: the long run detects a leak of 25 bytes per request, the short run one of 500.
    expect((heaps.at(-1)! - heaps[0]!) / MIB, `heaps ${heaps.join()}`).to.be.below(1);
  });
});
