import { expect } from 'chai';
import { setTimeout as pause } from 'node:timers/promises';
import { Client, untilServed } from '../../support/client';
import { type Instance, instancesPerTest, startInstance } from '../../support/instance';
import { type RedisServer, describeOwnRedis, needsLocalServers } from '../../support/redis';
import { paste, theBlock } from '../../docs/shell';
import { Sentinel } from '../../support/redis/sentinel';
import { until } from '../../support/until';

const KEY = 'plant-store:{alice}:events';

describeOwnRedis('With one Sentinel', (startRedis) => {
  let primary: RedisServer;
  let replica: RedisServer;
  let sentinel: Sentinel | undefined;
  let instance: Instance;
  let alice: Client;

  before(async function () {
    primary = await startRedis();
    needsLocalServers(this, primary, 'Sentinel');
    replica = await startRedis('--replicaof', ...primary.peer);
    sentinel = await Sentinel.watch(primary.port);
    instance = await startInstance({
      REDIS_SENTINELS: `127.0.0.1:${sentinel.port}`,
      REDIS_SENTINEL_MASTER: 'plants',
    });
    alice = new Client(instance.url);
  });

  after(async () => {
    await (instance as Instance | undefined)?.stop();
    await sentinel?.stop();
  });

  it('the service uses the primary that the Sentinel names', async () => {
    expect((await alice.create(1, 'Fern')).status).to.equal(200);
    expect((await alice.list()).names).to.deep.equal(['Fern']);
    expect(await primary.admin.xlen(KEY)).to.equal(1);
  });

  it('the service uses the new primary after a failover', async () => {
    while ((await replica.admin.xlen(KEY)) === 0) await pause(20);

    await primary.kill9();
    await sentinel!.failover();
    await untilServed(() => alice.create(2, 'Moss'));

    // The Sentinel may close the connection once more when it ends the failover.
    await untilServed(() => alice.list());
    expect((await alice.list()).names).to.deep.equal(['Fern', 'Moss']);
    // The Sentinel has closed all connections, including that of `replica.admin`.
    await replica.admin.connect();
    expect(await replica.admin.xlen(KEY)).to.equal(2);
  });
});

describeOwnRedis('With three Sentinels', (startRedis) => {
  const startInstances = instancesPerTest();
  let primary: RedisServer;
  let replica: RedisServer;
  let sentinels: Sentinel[];

  beforeEach(async function () {
    primary = await startRedis();
    needsLocalServers(this, primary, 'Sentinel');
    replica = await startRedis('--replicaof', ...primary.peer);
    sentinels = await Promise.all([1, 2, 3].map(() => Sentinel.watch(primary.port, 2)));
    await until(async () => (await sentinels[0]!.others()) === 2);
  });
  afterEach(() => Promise.all(sentinels.map((sentinel) => sentinel.stop())));

  const environment = () => ({
    REDIS_SENTINELS: sentinels.map(({ port }) => `127.0.0.1:${port}`).join(),
    REDIS_SENTINEL_MASTER: 'plants',
  });

  it('the service follows a planned failover while the old primary still accepts writes', async () => {
    const [instance] = await startInstances(1, environment());
    const alice = new Client(instance!.url);
    await alice.create(1, 'Fern');
    // Otherwise a Sentinel would demote the old primary about ten seconds later.
    await primary.admin.acl('SETUSER', 'default', '-replicaof', '-slaveof');
    const old = await sentinels[0]!.primary();
    const names = { SENTINEL_URL: `redis://127.0.0.1:${sentinels[0]!.port}`, MASTER: 'plants' };
    // The Sentinel refuses the command until it has discovered the replica, and while it fails over.
    await until(async () => {
      await paste(theBlock('sh failover sentinel').text, names);
      return (await sentinels[0]!.primary()) !== old;
    });
    for (const sentinel of sentinels) await until(async () => (await sentinel.primary()) !== old);
    // They have closed all connections of the replica.
    await replica.admin.connect().catch(() => {});
    let id = 100;
    await until(async () => {
      await alice.create(id++, 'Moss');
      return (await replica.admin.xlen(KEY)) > 1;
    });

    expect((await primary.admin.role())[0]).to.equal('master');
    const before = await primary.admin.xlen(KEY);
    expect(await alice.create(2, 'Ivy')).to.include({ status: 200 });
    expect(await primary.admin.xlen(KEY)).to.equal(before);
    expect(instance!.log.map(({ msg }) => msg)).to.include('Redis fails over to another primary');
  });
});
