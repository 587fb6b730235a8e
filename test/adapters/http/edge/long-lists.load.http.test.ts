import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'chai';
import { goalSlack } from '../../../support/goal-slack';
import { RawSocket } from '../../../support/raw-socket';
import { AUTH, create, request } from '../../../support/requests';
import { ServiceProcess } from '../../../support/service-process';
import { until } from '../../../support/until';
import { TOKENS } from '../../../support/watched-service';

const LONG = process.env['LONG'] === '1';
const PLANTS = { alice: LONG ? 200_000 : 40_000, bob: 3000 };
const NAME = 'x'.repeat(20);
const HEAP_MB = LONG ? 512 : 64;
const REQUESTS = 300;

/** The length of Bob's list: longer than one piece. */
const LIST = asBob(request('GET', '/plants'));

function asBob(bytes: string): string {
  return bytes.replace(AUTH, `Authorization: Bearer ${TOKENS.bob}\r\n`);
}

describe(`a user with ${PLANTS.alice} plants that requests many different long lists`, function () {
  this.timeout(300_000).slow(60_000);
  let service: ServiceProcess;
  let bobs = PLANTS.bob;

  before(async () => {
    service = await ServiceProcess.start({
      NODE_OPTIONS: `--max-old-space-size=${HEAP_MB}`,
      AUTH_TOKENS: `alice:${TOKENS.alice},bob:${TOKENS.bob}`,
      // A busy machine may take long to render a list.
      STORE_TIMEOUT_MS: '30000',
      LOG_LEVEL: 'error',
    });
    await Promise.all([seed(PLANTS.alice, create), seed(PLANTS.bob, (id, name) => asBob(create(id, name)))]);
  });
  after(() => service.kill());

  async function seed(plants: number, bytes: (id: number, name: string) => string): Promise<void> {
    for (let id = 0; id < plants; id += 500) {
      const client = await RawSocket.open(service.url);
      for (let i = id; i < id + 500; i++) client.send(bytes(i, NAME));
      for (let i = id; i < id + 500; i++) expect((await client.answer('POST')).status).to.equal(200);
      client.reset();
    }
  }

  /** Lists for Bob until `over`. Returns the latency of each response in ms, and the increase of `count` meanwhile. */
  async function listForBob(over: () => boolean, count = () => 0) {
    const took: number[] = [];
    const meanwhile: number[] = [];
    const client = await RawSocket.open(service.url);
    // At least a few: the attack may be short.
    while (!over() || took.length < 5) {
      // So that Bob's list differs each time.
      expect((await client.send(asBob(create(bobs++, NAME))).answer('POST')).status).to.equal(200);
      const [since, before] = [performance.now(), count()];
      const { status, body } = await client.send(LIST).answer();
      expect([status, body.length]).to.deep.equal([200, bobs * (NAME.length + 12) + 1]);
      took.push(performance.now() - since);
      meanwhile.push(count() - before);
      await delay(10);
    }
    client.reset();
    return { p99: took.sort((a, b) => a - b)[Math.floor(took.length * 0.99)], meanwhile };
  }

  /** The status of the response to `bytes`. Its long body is not parsed. */
  async function statusOf(bytes: string): Promise<number> {
    const { hostname, port } = new URL(service.url);
    const socket = connect({ host: hostname, port: Number(port) });
    socket.write(bytes.replace('\r\n\r\n', '\r\nConnection: close\r\n\r\n'));
    const [head] = (await once(socket, 'data')) as [Buffer];
    socket.resume();
    await once(socket, 'end');
    return Number(head.toString('latin1', 9, 12));
  }

  /** Requests a list and disconnects, most likely before its response. */
  async function abandon(bytes: string): Promise<void> {
    const client = await RawSocket.open(service.url);
    client.send(bytes);
    await delay(20);
    client.reset();
  }

  async function valueOf(metric: string): Promise<number> {
    const text = await (await fetch(`${service.url}/metrics`)).text();
    return Number(new RegExp(`^${metric} (\\S+)$`, 'm').exec(text)![1]);
  }

  it('gets one list after the other or 503, abandons some, and no other user waits for them', async () => {
    let open = true;
    let answers = 0;
    const statuses = Promise.all(
      Array.from({ length: REQUESTS }, async (_, i) => {
        await abandon(request('GET', `/plants?limit=${PLANTS.alice - 1 - REQUESTS - i}`));
        const status = await statusOf(request('GET', `/plants?limit=${PLANTS.alice - 1 - i}`));
        if (status === 200) answers++;
        return status;
      }),
    ).finally(() => (open = false));
    const { p99, meanwhile } = await listForBob(
      () => !open,
      () => answers,
    );
    // Bob's list takes two pieces, Alice's takes twenty.
    expect(Math.max(...meanwhile), `responses to Alice while Bob waits: ${meanwhile.join()}`).to.be.below(20);
    for (const status of await statuses) expect(status).to.be.oneOf([200, 503]);
    expect(await statuses)
      .to.include(200)
      .and.to.include(503);
    if (LONG) expect(p99).to.be.below(500 * goalSlack);
    await until(async () => (await valueOf('http_long_lists')) === 0);
  });
});
