import { expect } from 'chai';
import { BEGINNING, OutcomeUnknown, StoreUnavailable } from '../../../src/event-sourcing';
import { encoded, ferns } from '../../support/given';
import { type RedisServer, describeOwnRedis, needsLocalServers } from '../../support/redis';
import { formCluster } from '../../support/redis/form-cluster';
import { rejection } from '../../support/rejection';
import { TcpProxy } from '../../support/tcp-proxy';
import { until } from '../../support/until';
import { type Opened, openedPerTest } from './opened';

const [fern] = encoded(...ferns(1));
const users = Array.from({ length: 20 }, (_, index) => `user ${index}`);

describeOwnRedis('A Cluster of two primaries', (startRedis) => {
  const open = openedPerTest();
  let nodes: readonly RedisServer[];
  let proxies: readonly TcpProxy[] = [];
  let store: Opened;

  beforeEach(async function () {
    nodes = await Promise.all([1, 2].map(() => startRedis('--cluster-enabled', 'yes')));
    needsLocalServers(this, nodes[0]!, 'a Cluster');
    proxies = await Promise.all(nodes.map((node) => TcpProxy.to(node)));
    await formCluster(
      nodes,
      proxies.map(({ port }) => port),
    );
    const clusterNodes = proxies.map(({ port }) => ({ host: '127.0.0.1', port }));
    store = await open({ url: 'redis://x', clusterNodes, examineEveryMs: 100, timeoutMs: 4000 });
  });
  afterEach(() => Promise.all(proxies.map((proxy) => proxy.close())));

  const append = (user: string) => store.stream(user).append(BEGINNING, 'ours', [fern!]);
  const fails = (call: Promise<unknown>) =>
    call.then(
      () => false,
      () => true,
    );
  /** Where a user's stream is, and the other one. */
  async function homeOf(user: string): Promise<[number, number]> {
    await append(user);
    const [key] = await nodes[0]!.admin.keys(`*${user}:events`);
    return key === undefined ? [1, 0] : [0, 1];
  }

  it('gets the streams of both, and calls for each of them in one turn', async () => {
    expect(await Promise.all(users.map(append))).to.have.length(20);
    for (const { admin } of nodes) expect(await admin.dbsize()).to.be.above(5);
    for (const user of users) expect(await store.stream(user).history()).to.have.length(1);
  });

  it('gets an append whose reply was lost once: the client does not send it again', async () => {
    const [home] = await homeOf('alice');
    const { head } = (await append('alice')) as { head: { version: number; commit: string } };
    const lost = proxies[home]!.loseReply((bytes) => /evalsha/i.test(bytes.toString('latin1')), 'cut');
    expect(await rejection(store.stream('alice').append(head, 'second', [fern!]))).to.be.instanceOf(
      OutcomeUnknown,
    );
    await lost;
    await until(async () => !(await fails(store.stream('alice').read(head))));
    expect(await store.stream('alice').history()).to.have.length(2);
  });

  it('serves again after its connections were cut, and while another node is away', async () => {
    const [home, other] = await homeOf('alice');
    for (const proxy of proxies) proxy.cut();
    await until(async () => !(await fails(store.stream('alice').read(BEGINNING))));
    await nodes[other]!.freeze();
    await until(async () => !(await fails(store.stream('alice').read(BEGINNING))));
    await nodes[other]!.thaw();
    expect(home).not.to.equal(other);
  });

  it('is not available while it is down', async () => {
    for (const { admin } of nodes) await admin.call('CLUSTER', 'DELSLOTS', 0);
    await until(() => fails(store.check()));
    expect(await rejection(store.check())).to.be.instanceOf(StoreUnavailable);
    await until(() => store.status().refusals!.includes('cluster_down'));
    await nodes[0]!.admin.call('CLUSTER', 'ADDSLOTS', 0);
    await until(async () => !(await fails(store.check())));
    await until(() => store.log.includes('info Redis problem resolved: cluster down'));
  });

  it('is examined on each primary', async () => {
    for (const { admin } of nodes) {
      await admin.config('SET', 'maxmemory-policy', 'allkeys-lru');
      await until(() => fails(append('alice')));
      expect(store.status().findings.evicts).to.equal(true);
      await admin.config('SET', 'maxmemory-policy', 'noeviction');
      await until(() => store.status().writes);
    }
  });

  // ioredis sends ASKING to the other node first, and leaves its rejection unhandled, which would end the process.
  it('fails calls for a slot that moves to a node which is away, and nothing else', async () => {
    const [home, other] = await homeOf('alice');
    const [source, target] = [nodes[home]!.admin, nodes[other]!.admin];
    const [key] = await source.keys('*alice:events');
    const slot = Number(await source.call('CLUSTER', 'KEYSLOT', key!));
    await target.call('CLUSTER', 'SETSLOT', slot, 'IMPORTING', String(await source.call('CLUSTER', 'MYID')));
    await source.call('CLUSTER', 'SETSLOT', slot, 'MIGRATING', String(await target.call('CLUSTER', 'MYID')));
    await source.del(...(await source.keys(`${key!.slice(0, key!.indexOf('}') + 1)}*`)));
    const unhandled: unknown[] = [];
    const listen = (error: unknown) => void unhandled.push(error);
    process.on('unhandledRejection', listen);
    proxies[other]!.cut();
    await nodes[other]!.freeze();
    expect(await rejection(append('alice'))).to.satisfy(
      (error: unknown) => error instanceof StoreUnavailable || error instanceof OutcomeUnknown,
    );
    await nodes[other]!.thaw();
    await until(async () => !(await fails(store.check())));
    process.off('unhandledRejection', listen);
    expect(unhandled).to.deep.equal([]);
  });
});
