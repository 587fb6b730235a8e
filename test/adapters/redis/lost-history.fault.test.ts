import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'chai';
import { HttpClient, untilServed } from '../../support/client';
import { type Instance, instancesPerTest } from '../../support/instance';
import { type RedisServer, describeOwnRedis } from '../../support/redis';
import { TcpProxy } from '../../support/tcp-proxy';

const KEY = 'plant-store:{39}:plants/alice:events';

/** Asynchronous replication can lose events: the service cannot restore them, but it never mixes two histories. */
describeOwnRedis('When a stale replica is promoted', (startRedis) => {
  const startInstances = instancesPerTest();
  /** The server behind the service's address: the proxy reads it for each connection. */
  const address = { host: '', port: 0 };
  let proxy: TcpProxy;
  let primary: RedisServer;
  let replica: RedisServer;
  let instances: readonly Instance[];
  let alice: readonly [HttpClient, HttpClient];

  beforeEach(async () => {
    primary = await startRedis();
    replica = await startRedis('--replicaof', ...primary.peer);
    address.host = new URL(primary.url).hostname;
    address.port = primary.port;
    proxy = await TcpProxy.to(address);
    instances = await startInstances(2, { REDIS_URL: `redis://127.0.0.1:${proxy.port}` });
    alice = [new HttpClient(instances[0]!.url), new HttpClient(instances[1]!.url)];

    await alice[0].create(1, 'Fern');
    while ((await replica.admin.xlen(KEY)) === 0) await pause(10);
    await replica.admin.replicaof('NO', 'ONE');
    expect((await alice[0].create(2, 'Moss')).status).to.equal(200);
    expect((await alice[1].list()).names).to.deep.equal(['Fern', 'Moss']);

    address.port = replica.port;
    await primary.kill9();
  });

  afterEach(() => proxy.close());

  function lossesTold(): number[] {
    return instances.map(({ log }) => log.filter(({ msg }) => msg.includes('lost history')).length);
  }

  it('every instance lists the plants of the replica, and logs the loss', async () => {
    for (const client of alice) {
      await untilServed(() => client.list());
      expect((await client.list()).names).to.deep.equal(['Fern']);
    }
    expect(lossesTold()).to.deep.equal([1, 1]);
  });

  it('every instance appends after the events of the replica, and logs the loss', async () => {
    await untilServed(() => alice[0].create(3, 'Ivy'));
    await untilServed(() => alice[1].create(4, 'Aloe'));

    for (const client of alice) expect((await client.list()).names).to.deep.equal(['Fern', 'Ivy', 'Aloe']);
    const ids = (await replica.admin.xrange(KEY, '-', '+')).map(([id]) => id);
    expect(ids).to.deep.equal(['1-0', '2-0', '3-0']);
    expect(lossesTold()).to.deep.equal([1, 1]);
  });
});
