import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'chai';
import { HttpClient, type HttpResponse, servedInTime, untilServed } from '../../../support/client';
import { type Instance, instancesPerTest } from '../../../support/instance';
import { patient } from '../../../support/patience';
import { type RedisServer, describeOwnRedis } from '../../../support/redis';
import { storedEvents } from '../../../support/stored-events';
import { TcpProxy } from '../../../support/tcp-proxy';
import { until } from '../../../support/until';
import { ANSWERED_WITHIN_MS, PATIENT_MS, STORE_TIMEOUT_MS } from './limits';

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

  /** Waits until a write has been recorded and its WAIT is blocked. */
  async function someoneWaits(): Promise<void> {
    await until(async () => (await primary.admin.info('clients')).includes('blocked_clients:1'));
  }

  /** Clients of one instance, with a plant each, so that connections, script and lists are warm. */
  async function clients(
    redisUrl = primary.url,
    how = environment,
  ): Promise<[alice: HttpClient, bob: HttpClient]> {
    const [instance] = await startInstances(1, { ...how, REDIS_URL: redisUrl });
    const [alice, bob] = [new HttpClient(instance!.url, 'alice'), new HttpClient(instance!.url, 'bob')];
    // On a busy machine it may be 50301 at first. Later requests then queue after the calls in flight.
    await Promise.all([untilServed(() => alice.create(1, 'Fern')), untilServed(() => bob.create(1, 'Aloe'))]);
    return [alice, bob];
  }

  const namesAt = async (redis: RedisServer) =>
    (await storedEvents(redis.admin, 'plant-store:{39}:plants/alice:events')).map(({ name }) => name);

  function unknown({ status, error, took }: HttpResponse): void {
    expect({ status, error }).to.deep.equal({ status: 503, error: 50301 });
    expect(took).to.be.below(patient(ANSWERED_WITHIN_MS));
  }

  it('acknowledges a write after the replica confirmed it, and not earlier', async () => {
    const [alice] = await clients(primary.url, patiently);
    await replica.freeze();
    const creation = alice.create(2, 'Moss');
    expect(await Promise.race([creation, pause(100)])).to.equal(undefined);
    await replica.thaw();
    expect(await creation).to.include({ status: 200 });
    expect(await namesAt(replica)).to.deep.equal(['Fern', 'Moss']);
  });

  // From 7.2 on, Redis waits for the writes of this connection; before, for the writes of all connections.
  it('does not acknowledge a retry that finds its write recorded on the primary only', async () => {
    const [alice] = await clients(`redis://127.0.0.1:${proxy.port}`);
    await replica.freeze();
    const creation = alice.create(2, 'Moss');
    await someoneWaits();
    // The append is sent again, over a new connection that has no write for WAIT yet.
    proxy.cut();
    unknown(await creation);
    expect(await namesAt(primary)).to.deep.equal(['Fern', 'Moss']);
    await replica.thaw();
    await servedInTime(() => alice.delete(2));
  });

  it('never reports a recorded write as unavailable when its primary was demoted during WAIT', async () => {
    const [alice] = await clients();
    await replica.freeze();
    const creation = alice.create(2, 'Moss');
    await someoneWaits();
    // Blocked clients now get an error (UNBLOCKED).
    await primary.admin.replicaof(...replica.peer);
    unknown(await creation);
    expect(await namesAt(primary)).to.deep.equal(['Fern', 'Moss']);
    await replica.thaw();
  });
});

describeOwnRedis('With min-replicas-to-write=1, lists', (startRedis) => {
  const startInstances = instancesPerTest();
  const LAG_S = 1;
  let primary: RedisServer;
  let replica: RedisServer;
  let instance: Instance;
  let alice: HttpClient;

  beforeEach(async () => {
    const lease = ['--min-replicas-to-write', '1', '--min-replicas-max-lag', String(LAG_S)];
    primary = await startRedis(...lease);
    replica = await startRedis('--replicaof', ...primary.peer);
    [instance] = (await startInstances(1, { REDIS_URL: primary.url })) as [Instance];
    alice = new HttpClient(instance.url);
    await untilServed(() => alice.create(1, 'Fern'));
  });

  const readiness = async () => (await fetch(`${instance.url}/health/ready`)).status;

  it('are refused once the replica has not confirmed for two seconds more than the lag, and served when it does', async () => {
    await replica.freeze();
    await pause((LAG_S + 2) * 1000);
    expect(await alice.list()).to.include({ status: 503, error: 50300 });
    // A rejected write shows what is recorded, too.
    expect(await alice.create(1, 'Moss')).to.include({ status: 503, error: 50300 });
    expect(await readiness()).to.equal(503);

    await replica.thaw();
    await servedInTime(() => alice.list());
    await until(async () => (await readiness()) === 200);
  });

  it('are refused as well as the conflict that a stale primary reports', async () => {
    const moss = '{"id":2,"name":"Moss"}';
    await primary.admin.xadd(
      ...([
        'plant-store:{39}:plants/alice:events',
        '2-0',
        'type',
        'PlantCreated',
        'data',
        moss,
        'commit',
        'theirs',
      ] as const),
    );
    await replica.freeze();
    await pause((LAG_S + 2) * 1000);
    // A 400 would say that the id is taken.
    expect(await alice.create(2, 'Moss')).to.include({ status: 503, error: 50300 });
    await replica.thaw();
    await until(async () => (await alice.create(2, 'Moss')).error === 40003);
  });
});
