import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'chai';
import { audit, storedEvents } from '../../../support/audit';
import { type Answer, Client, untilServed } from '../../../support/client';
import { instancesPerTest } from '../../../support/instance';
import { Load } from '../../../support/load';
import { type RedisServer, describeOwnRedis } from '../../../support/redis';
import { TcpProxy } from '../../../support/tcp-proxy';
import { until } from '../../../support/until';
import {
  ANSWERED_WITHIN_MS,
  PATIENT_MS,
  SERVES_AT_LATEST_MS,
  STORE_TIMEOUT_MS,
  underLoad,
  untilAllServe,
} from './under-load';

describeOwnRedis('With REDIS_WAIT_REPLICAS=1 and a replica', (startRedis) => {
  const startInstances = instancesPerTest();
  const environment = { REDIS_WAIT_REPLICAS: '1', STORE_TIMEOUT_MS: String(STORE_TIMEOUT_MS) };
  const patiently = { ...environment, STORE_TIMEOUT_MS: String(PATIENT_MS) };
  let primary: RedisServer;
  let replica: RedisServer;
  let proxy: TcpProxy;

  beforeEach(async () => {
    primary = await startRedis();
    replica = await startRedis('--replicaof', ...primary.peer);
    await replicaFollows();
    proxy = await TcpProxy.to({ host: primary.host, port: primary.port });
  });
  afterEach(() => proxy.close());

  async function replicaFollows(): Promise<void> {
    do await primary.admin.set('written', 'to be waited for');
    while ((await primary.admin.wait(1, 50)) < 1);
  }

  /** Until a write has been recorded, and the WAIT behind it stands. */
  async function someoneWaits(): Promise<void> {
    await until(async () => (await primary.admin.info('clients')).includes('blocked_clients:1'));
  }

  /** Clients of one instance, with a plant each, so that everything is warm: connections, script and lists. */
  async function clients(redisUrl = primary.url, how = environment): Promise<[alice: Client, bob: Client]> {
    const [instance] = await startInstances(1, { ...how, REDIS_URL: redisUrl });
    const [alice, bob] = [new Client(instance!.url, 'alice'), new Client(instance!.url, 'bob')];
    // On a busy machine it may be 50301 at first; and whatever is still under way then, what comes next has to queue behind.
    await Promise.all([untilServed(() => alice.create(1, 'Fern')), untilServed(() => bob.create(1, 'Aloe'))]);
    return [alice, bob];
  }

  const namesAt = async (redis: RedisServer) =>
    (await storedEvents(redis.admin, 'plant-store:{alice}:events')).map(({ name }) => name);

  function unknown({ status, error, took }: Answer): void {
    expect({ status, error }).to.deep.equal({ status: 503, error: 50301 });
    expect(took).to.be.below(ANSWERED_WITHIN_MS);
  }

  it('acknowledges a write once the replica holds it, and not before', async () => {
    const [alice] = await clients(primary.url, patiently);
    await replica.freeze();
    const creation = alice.create(2, 'Moss');
    expect(await Promise.race([creation, pause(100)])).to.equal(undefined);
    await replica.thaw();
    expect(await creation).to.include({ status: 200 });
    expect(await namesAt(replica)).to.deep.equal(['Fern', 'Moss']);
  });

  it('acknowledges each of many writes only when the replica holds it', async () => {
    const [alice] = await clients(primary.url, patiently);
    for (let id = 2; id <= 30; id++) {
      expect(await alice.create(id, `plant ${id}`)).to.include({ status: 200 });
      expect((await namesAt(replica)).at(-1)).to.equal(`plant ${id}`);
    }
  });

  for (const [gone, away, back] of [
    ['frozen', () => replica.freeze(), () => replica.thaw()],
    ['killed', () => replica.kill9(), () => replica.start()],
  ] as const) {
    it(`${gone}: leaves writes unknown, in time, and recorded once; others' reads go on`, async () => {
      const [alice, bob] = await clients();
      await away();
      const creation = alice.create(2, 'Moss');
      const lists = Array.from({ length: 8 }, async (_, turn) => {
        await pause((turn * STORE_TIMEOUT_MS) / 10);
        return bob.list();
      });
      const answers = await Promise.all(lists);
      for (const { names } of answers) expect(names).to.deep.equal(['Aloe']);
      // Behind a WAIT each would have to wait for the rest of it, so half of them for most.
      const times = answers.map(({ took }) => took).sort((a, b) => a - b);
      expect(times[answers.length / 2]).to.be.below(STORE_TIMEOUT_MS / 4);
      unknown(await creation);

      await back();
      await replicaFollows();
      // What the client does who was told 50301.
      expect(await untilServed(() => alice.create(2, 'Moss'))).to.be.below(SERVES_AT_LATEST_MS);
      expect(await namesAt(primary)).to.deep.equal(['Fern', 'Moss']);
      await replicaFollows();
      expect(await namesAt(replica)).to.deep.equal(['Fern', 'Moss']);
    });
  }

  // Redis from 7.2 on waits for what the connection itself wrote; before, for all that anybody had written.
  it('does not take a write that it finds recorded for one that the replica holds', async () => {
    const [alice] = await clients(`redis://127.0.0.1:${proxy.port}`);
    await replica.freeze();
    const creation = alice.create(2, 'Moss');
    await someoneWaits();
    // The append is sent again, over a new connection on which nothing was written yet that WAIT could wait for.
    proxy.cut();
    unknown(await creation);
    expect(await namesAt(primary)).to.deep.equal(['Fern', 'Moss']);
    await replica.thaw();
    expect(await untilServed(() => alice.delete(2))).to.be.below(SERVES_AT_LATEST_MS);
  });

  it('and does acknowledge such a write once the replica holds it', async () => {
    const [alice] = await clients(`redis://127.0.0.1:${proxy.port}`, patiently);
    await replica.freeze();
    const creation = alice.create(2, 'Moss');
    await someoneWaits();
    proxy.cut();
    await pause(250);
    await replica.thaw();
    expect(await creation).to.include({ status: 200 });
    expect(await namesAt(replica)).to.deep.equal(['Fern', 'Moss']);
  });

  it('acknowledges also what it had to send twice, since Redis had forgotten the script', async () => {
    const [alice] = await clients(primary.url, patiently);
    await primary.admin.script('FLUSH');
    expect(await alice.create(2, 'Moss')).to.include({ status: 200 });
    expect(await namesAt(replica)).to.deep.equal(['Fern', 'Moss']);
  });

  it('never calls a write refused that was recorded when its primary was demoted while it waited', async () => {
    const [alice] = await clients();
    await replica.freeze();
    const creation = alice.create(2, 'Moss');
    await someoneWaits();
    // Whoever waits is sent an error now (UNBLOCKED).
    await primary.admin.replicaof(...replica.peer);
    unknown(await creation);
    expect(await namesAt(primary)).to.deep.equal(['Fern', 'Moss']);
    await replica.thaw();
  });

  it('breaks no promise under load while the replica comes and goes', async () => {
    await underLoad({ redis: primary, environment }, async (instances) => {
      await pause(200);
      await replica.freeze();
      await pause(2 * STORE_TIMEOUT_MS);
      await replica.thaw();
      expect(await untilAllServe(instances)).to.be.below(SERVES_AT_LATEST_MS);
      await replica.kill9();
      await pause(STORE_TIMEOUT_MS);
      await replica.start();
      await replicaFollows();
      expect(await untilAllServe(instances)).to.be.below(SERVES_AT_LATEST_MS);
    });
  });

  it('has everything that was acknowledged on the replica when the primary dies', async () => {
    const instances = await startInstances(2, { ...environment, REDIS_URL: primary.url });
    const load = new Load({ urls: instances.map(({ url }) => url), users: ['alice'] });
    // Lists may have shown writes on their way to the replica; those are lost with the primary.
    const writes = () => load.operations.filter(({ attempt }) => attempt.kind !== 'list');
    await until(() => writes().filter(({ answer }) => answer.status < 300).length > 10);
    await primary.kill9();
    await load.stop();
    await replica.admin.replicaof('NO', 'ONE');
    const events = await storedEvents(replica.admin, 'plant-store:{alice}:events');
    expect(audit(writes(), events)).to.deep.equal([]);
  });
});
