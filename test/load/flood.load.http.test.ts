import { expect } from 'chai';
import { metricOf } from '../support/metrics';
import { RawSocket } from '../support/raw-socket';
import { AUTH, create, request } from '../support/requests';
import { ServiceProcess } from '../support/service-process';
import { until } from '../support/until';
import { tokenOf } from '../support/token';

const PLANTS = { alice: 40_000, bob: 3000 };
const NAME = 'x'.repeat(20);
const HEAP_MB = 64;
const REQUESTS = 300;
const asBob = (bytes: string) => bytes.replace(AUTH, `Authorization: Bearer ${tokenOf('bob')}\r\n`);

describe(`A user with ${PLANTS.alice} plants that requests many different long lists`, function () {
  this.timeout(300_000).slow(60_000);
  let service: ServiceProcess;
  let bobs = PLANTS.bob;

  before(async () => {
    service = await ServiceProcess.start({
      NODE_OPTIONS: `--max-old-space-size=${HEAP_MB}`,
      AUTH_TOKENS: `alice:${tokenOf('alice')},bob:${tokenOf('bob')}`,
      // A busy machine may take long to render a list.
      STORE_TIMEOUT_MS: '30000',
      LOG_LEVEL: 'error',
    });
    await Promise.all([
      seed(PLANTS.alice, create),
      seed(PLANTS.bob, (id, name) => asBob(create(id, name))),
    ]);
  });
  after(() => service.kill());

  async function seed(plants: number, bytes: (id: number, name: string) => string): Promise<void> {
    for (let id = 0; id < plants; id += 500) {
      const client = await RawSocket.open(service.url);
      for (let i = id; i < id + 500; i++) client.send(bytes(i, NAME));
      for (let i = id; i < id + 500; i++) expect((await client.answer()).status).to.equal(200);
      client.reset();
    }
  }

  it('gets each list or 503, and no other user waits for all of them', async () => {
    const flood = { open: true, answered: 0 };
    const statuses = Promise.all(
      Array.from({ length: REQUESTS }, async (_, i) => {
        const abandoned = await RawSocket.open(service.url);
        abandoned.send(request('GET', `/plants?limit=${PLANTS.alice - 1 - REQUESTS - i}`));
        const headers = { Authorization: `Bearer ${tokenOf('alice')}` };
        const { status, body } = await fetch(
          `${service.url}/plants?limit=${PLANTS.alice - 1 - i}`,
          {
            headers,
          },
        );
        await body?.pipeTo(new WritableStream());
        abandoned.reset();
        if (status === 200) flood.answered++;
        return status;
      }),
    ).finally(() => (flood.open = false));

    const client = await RawSocket.open(service.url);
    const meanwhile: number[] = [];
    // At least a few: the flood may be short.
    while (flood.open || meanwhile.length < 5) {
      // So that Bob's list differs each time.
      expect((await client.send(asBob(create(bobs++, NAME))).answer()).status).to.equal(200);
      const before = flood.answered;
      const { status, body } = await client.send(asBob(request('GET', '/plants'))).answer();
      expect([status, body.length]).to.deep.equal([200, bobs * (NAME.length + 12) + 1]);
      meanwhile.push(flood.answered - before);
    }
    client.reset();

    // Bob's list takes two pieces, Alice's takes twenty.
    expect(
      Math.max(...meanwhile),
      `lists of Alice while Bob waits: ${meanwhile.join()}`,
    ).to.be.below(20);
    expect(new Set(await statuses)).to.deep.equal(new Set([200, 503]));
    await until(async () => (await metricOf(service.url, 'http_long_lists')) === 0);
  });
});
