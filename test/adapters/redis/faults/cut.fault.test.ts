import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'chai';
import { storedEvents } from '../../../support/audit';
import { Client } from '../../../support/client';
import { instancesPerTest } from '../../../support/instance';
import { type RedisServer, describeOwnRedis } from '../../../support/redis';
import { TcpProxy } from '../../../support/tcp-proxy';
import {
  A_WHILE_MS,
  ANSWERED_WITHIN_MS,
  PATIENT_MS,
  SERVES_AT_LATEST_MS,
  STORE_TIMEOUT_MS,
  underLoad,
  untilAllServe,
} from './under-load';

const CUTS = process.env.LONG ? 20 : 4;

describeOwnRedis('A network between the service and Redis that', (startRedis) => {
  const startInstances = instancesPerTest();
  let redis: RedisServer;
  let proxy: TcpProxy;
  let redisUrl: string;

  beforeEach(async () => {
    redis = await startRedis();
    proxy = await TcpProxy.to({ host: redis.host, port: redis.port });
    redisUrl = `redis://127.0.0.1:${proxy.port}`;
  });
  afterEach(() => proxy.close());

  /** A client whose plant 1 is there already, so that everything is warm: connection, script and list. */
  async function warmClient(timeoutMs = PATIENT_MS): Promise<Client> {
    const environment = { REDIS_URL: redisUrl, STORE_TIMEOUT_MS: String(timeoutMs) };
    const [instance] = await startInstances(1, environment);
    const client = new Client(instance!.url);
    await client.create(1, 'Fern');
    return client;
  }
  const isAppend = (bytes: Buffer) => bytes.includes('PlantCreated');
  const stored = async () =>
    (await storedEvents(redis.admin, 'plant-store:{alice}:events')).map(({ name }) => name);

  it('cuts a connection in the middle of an append: it is sent anew, and acknowledged', async () => {
    const client = await warmClient();
    const cut = proxy.cutRequest(isAppend, 40);
    const answer = await client.create(2, 'Moss');
    await cut;
    expect(answer).to.include({ status: 200 });
    expect(await stored()).to.deep.equal(['Fern', 'Moss']);
  });

  it('cuts it before the reply to an append: it is found to have landed, and acknowledged', async () => {
    const client = await warmClient();
    const lost = proxy.loseReply(isAppend, 'cut');
    const answer = await client.create(2, 'Moss');
    await lost;
    expect(answer).to.include({ status: 200 });
    expect(await stored()).to.deep.equal(['Fern', 'Moss']);
  });

  it('loses the reply to an append and says nothing: the outcome is unknown, and the client finds out', async () => {
    const client = await warmClient(STORE_TIMEOUT_MS);
    const lost = proxy.loseReply(isAppend, 'left open');
    const answer = await client.create(2, 'Moss');
    await lost;
    expect(answer).to.include({ status: 503, error: 50301 });
    expect(answer.took).to.be.within(STORE_TIMEOUT_MS - 5, ANSWERED_WITHIN_MS);

    await pause(A_WHILE_MS);
    expect(await client.create(2, 'Moss')).to.include({ status: 400, error: 40003 });
    expect(await stored()).to.deep.equal(['Fern', 'Moss']);
  });

  it('cuts every connection again and again under load, breaks no promise', async function () {
    this.timeout(10_000 + CUTS * 1000);
    await underLoad({ redis, redisUrl }, async (instances) => {
      for (let cut = 0; cut < CUTS; cut++) {
        await pause(100 + 25 * (cut % 5));
        proxy.cut();
      }
      expect(await untilAllServe(instances)).to.be.below(SERVES_AT_LATEST_MS);
    });
  });

  it('swallows everything for a while under load, keeps nobody waiting, and is got over within 2 s', async () => {
    await underLoad({ redis, redisUrl }, async (instances) => {
      await pause(200);
      proxy.blackhole();
      await pause(2 * STORE_TIMEOUT_MS);
      proxy.heal();
      expect(await untilAllServe(instances)).to.be.below(SERVES_AT_LATEST_MS);
    });
  });

  it('takes its time makes the service slower, and nothing else', async () => {
    proxy.delayMs = 20;
    const client = await warmClient();
    const answers = [await client.create(2, 'Moss'), await client.list()];
    expect(answers.map(({ status }) => status)).to.deep.equal([200, 200]);
    // There and back, in timers that count whole milliseconds.
    for (const { took } of answers) expect(took).to.be.within(2 * (proxy.delayMs - 1), ANSWERED_WITHIN_MS);
  });
});
