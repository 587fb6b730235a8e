import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'chai';
import { Client } from '../../../support/client';
import { instancesPerTest } from '../../../support/instance';
import { patient } from '../../../support/patience';
import { type RedisServer, describeOwnRedis } from '../../../support/redis';
import { storedEvents } from '../../../support/stored-events';
import { TcpProxy } from '../../../support/tcp-proxy';
import { ANSWERED_WITHIN_MS, A_WHILE_MS, PATIENT_MS, STORE_TIMEOUT_MS } from './limits';

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

  /** A client with plant 1, so that connection, script and list are warm. */
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

  it('resets a connection within an append: it is retried, and acknowledged', async () => {
    const client = await warmClient();
    const cut = proxy.cutRequest(isAppend, 40);
    const answer = await client.create(2, 'Moss');
    await cut;
    expect(answer).to.include({ status: 200 });
    expect(await stored()).to.deep.equal(['Fern', 'Moss']);
  });

  it('resets it before the reply to an append: the retry finds it recorded, and it is acknowledged', async () => {
    const client = await warmClient();
    const lost = proxy.loseReply(isAppend, 'cut');
    const answer = await client.create(2, 'Moss');
    await lost;
    expect(answer).to.include({ status: 200 });
    expect(await stored()).to.deep.equal(['Fern', 'Moss']);
  });

  it('silently loses the reply to an append: the outcome is unknown, and a retry settles it', async () => {
    const client = await warmClient(STORE_TIMEOUT_MS);
    const lost = proxy.loseReply(isAppend, 'left open');
    const answer = await client.create(2, 'Moss');
    await lost;
    expect(answer).to.include({ status: 503, error: 50301 });
    expect(answer.took).to.be.within(STORE_TIMEOUT_MS - 5, patient(ANSWERED_WITHIN_MS));

    await pause(A_WHILE_MS);
    expect(await client.create(2, 'Moss')).to.include({ status: 400, error: 40003 });
    expect(await stored()).to.deep.equal(['Fern', 'Moss']);
  });

  it('is slow makes the service slower, and has no other effect', async () => {
    proxy.delayMs = 20;
    const client = await warmClient();
    const answers = [await client.create(2, 'Moss'), await client.list()];
    expect(answers.map(({ status }) => status)).to.deep.equal([200, 200]);
    // Both directions, with timers of whole milliseconds.
    for (const { took } of answers)
      expect(took).to.be.within(2 * (proxy.delayMs - 1), patient(ANSWERED_WITHIN_MS));
  });
});
