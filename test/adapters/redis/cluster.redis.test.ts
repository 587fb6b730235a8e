import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'chai';
import { BEGINNING, OutcomeUnknown, StoreUnavailable } from '../../../src/event-sourcing';
import {
  type RedisServer,
  describeRedis,
  formCluster,
  joinAsReplica,
  nodeId,
} from '../../support/redis';
import { rejection } from '../../support/rejection';
import { TcpProxy } from '../../support/tcp-proxy';
import { succeeds, until } from '../../support/until';
import { type Opened, openedPerTest, OTHER, REFUSED } from './opened';

const FIRST = { version: 1, commit: 'ours' };

const setSlot = ({ admin }: RedisServer, ...args: (string | number)[]) =>
  admin.call('CLUSTER', 'SETSLOT', ...args);

describeRedis('A Cluster that does not name the address of its nodes', (startRedis) => {
  const open = openedPerTest();

  for (const type of ['unknown-endpoint', 'hostname'])
    it(`is refused with a message that names the setting: cluster-preferred-endpoint-type ${type}`, async () => {
      const node = await startRedis(
        '--cluster-enabled',
        'yes',
        '--cluster-preferred-endpoint-type',
        type,
      );
      await formCluster([node]);
      const { append, log } = await open({
        url: 'redis://x',
        clusterNodes: [node],
        timeoutMs: 500,
      });
      await until(() => log.some((line) => line.includes('set cluster-preferred-endpoint-type')));
      expect(String(await rejection(append()))).to.include('set cluster-preferred-endpoint-type');
    });
});

describeRedis('A Cluster of two primaries', (startRedis) => {
  const open = openedPerTest();
  let nodes: readonly RedisServer[];
  let proxies: readonly TcpProxy[] = [];
  let store: Opened;

  beforeEach(async () => {
    nodes = await Promise.all([1, 2].map(() => startRedis('--cluster-enabled', 'yes')));
    proxies = await Promise.all(nodes.map((node) => TcpProxy.to(node)));
    const ports = proxies.map(({ port }) => port);
    await formCluster(nodes, ports);
    const clusterNodes = ports.map((port) => ({ host: '127.0.0.1', port }));
    store = await open({ url: 'redis://x', clusterNodes, examineEveryMs: 100, timeoutMs: 4000 });
    // On a busy machine, the first attempt to connect may fail.
    await until(() => succeeds(store.check()));
  });
  afterEach(() => Promise.all(proxies.map((proxy) => proxy.close())));

  const isRead = () => succeeds(store.stream().read(BEGINNING));
  /** The numbers of the node with the stream, and of the other one. */
  async function appended(): Promise<[number, number]> {
    await store.append();
    return (await nodes[0]!.admin.keys('*:events')).length > 0 ? [0, 1] : [1, 0];
  }

  it('records an append once if its reply is lost, and serves again even while another node is frozen', async () => {
    const [home, other] = await appended();
    const lost = proxies[home]!.loseReply(
      (bytes) => /evalsha/i.test(bytes.toString('latin1')),
      'cut',
    );
    expect(await rejection(store.stream().append(FIRST, 'second', [OTHER]))).to.be.instanceOf(
      OutcomeUnknown,
    );
    await lost;
    await until(isRead);
    // The client does not send it again.
    expect(await store.stream().history()).to.have.length(2);
    await nodes[other]!.freeze();
    await until(isRead);
  });

  it('is reported as unavailable while its state is down', async () => {
    for (const { admin } of nodes) await admin.call('CLUSTER', 'DELSLOTS', 0);
    await until(async () => !(await succeeds(store.check())));
    expect(await rejection(store.check())).to.be.instanceOf(StoreUnavailable);
    await until(() => store.status().refusals!.includes('cluster_down'));
    await nodes[0]!.admin.call('CLUSTER', 'ADDSLOTS', 0);
    await until(() => succeeds(store.check()));
    await until(() => store.log.includes('info Redis finding resolved: cluster down'));
  });

  /** The users of a node, and those of the other one. */
  async function usersOf(node: number): Promise<readonly [mine: string[], others: string[]]> {
    const users = ['alice', ...Array.from({ length: 30 }, (_, index) => `user-${index}`)];
    for (const user of users) await store.append(user);
    const keys = await nodes[node]!.admin.keys('*:events');
    const isMine = (user: string) => keys.some((key) => key.endsWith(`/${user}:events`));
    return [users.filter(isMine), users.filter((user) => !isMine(user))];
  }

  /** What these users are refused, who read and write all the time until `change` has ended. */
  async function refusalsOf(
    users: readonly string[],
    change: () => Promise<unknown>,
  ): Promise<string[]> {
    // Otherwise a server that misses another one refuses the calls itself.
    for (const { admin } of nodes) await admin.config('SET', 'cluster-require-full-coverage', 'no');
    const refusals: string[] = [];
    let hasEnded = false;
    const calling = users.map(async (user) => {
      while (!hasEnded) {
        const calls = [store.stream(user).read(BEGINNING), store.append(user)];
        const count = (error: Error) =>
          refusals.push(`${user}: ${String(error)} (${String(error.cause)})`);
        await Promise.all(calls.map((call) => call.catch(count)));
        await pause(5);
      }
    });
    try {
      await change();
      // Each connection has examined the servers meanwhile.
      await pause(500);
    } finally {
      hasEnded = true;
      await Promise.all(calling);
    }
    return refusals;
  }

  const isRefused = (call: Promise<unknown>) =>
    call.then(
      () => false,
      (error: unknown) => (error as StoreUnavailable).reason === REFUSED.reason,
    );

  for (const node of [0, 1])
    it(`refuses only the users of an emptied primary, whether or not it has the store ID: node ${node}`, async () => {
      const [mine, others] = await usersOf(node);
      await pause(500);
      const refusals = await refusalsOf(others, async () => {
        await nodes[node]!.admin.flushall();
        // Each connection finds that out for itself.
        for (const user of mine) {
          await until(() => isRefused(store.stream(user).read(BEGINNING)));
          await until(() => isRefused(store.append(user)));
        }
      });
      expect(refusals).to.deep.equal([]);
      for (const user of mine) expect(await rejection(store.append(user))).to.include(REFUSED);
      expect(store.log.join()).to.match(
        /has lost its part of this store, as if it was emptied: restore its data/,
      );
    });

  it('refuses no user of another primary during a failover, even if the old primary may evict keys', async () => {
    const replica = await startRedis('--cluster-enabled', 'yes');
    await joinAsReplica(replica, nodes[0]!);
    const [mine, others] = await usersOf(0);
    const refusals = await refusalsOf(others, async () => {
      await replica.admin.call('CLUSTER', 'FAILOVER', 'TAKEOVER');
      await until(async () => (await nodes[0]!.admin.info('replication')).includes('role:slave'));
      await nodes[0]!.admin.config('SET', 'maxmemory-policy', 'allkeys-lru');
      await until(() => succeeds(store.append(mine[0])));
    });
    expect(refusals).to.deep.equal([]);
  });

  it('refuses no user of the primary that gets all slots, and ignores the server without slots', async () => {
    const [source, target] = nodes as [RedisServer, RedisServer];
    const [mine, others] = await usersOf(0);
    const [from, to] = [await nodeId(source), await nodeId(target)];
    const refusals = await refusalsOf(others, async () => {
      for (const key of await source.admin.keys('*')) {
        const slot = Number(await source.admin.call('CLUSTER', 'KEYSLOT', key));
        await setSlot(target, slot, 'IMPORTING', from);
        await setSlot(source, slot, 'MIGRATING', to);
        await source.admin.call('MIGRATE', target.host, target.port, key, 0, 5000);
      }
      // Otherwise it would become a replica of the other one.
      await source.admin.config('SET', 'cluster-allow-replica-migration', 'no');
      // In parts, because a call of a user waits for all commands that were sent before it.
      const slots = Array.from({ length: 128 }, (_, slot) => slot);
      for (const node of [target, source])
        for (let first = 0; first < 8192; first += slots.length)
          await Promise.all(slots.map((slot) => setSlot(node, first + slot, 'NODE', to)));
      await source.admin.config('SET', 'maxmemory-policy', 'allkeys-lru');
      await until(() => succeeds(store.append(mine[0])));
    });
    expect(refusals).to.deep.equal([]);
    for (const user of mine) expect((await store.append(user)).status).to.equal('appended');
    // An examination with the map of before may have found it.
    await until(() => !store.status().findings.evicts);
  });

  it('is examined on each primary, and a primary that may evict keys is refused only for its users', async () => {
    for (const [node, { admin }] of nodes.entries()) {
      const [mine, others] = await usersOf(node);
      const isRead = (user: string) => succeeds(store.stream(user).read(BEGINNING));
      await admin.config('SET', 'maxmemory-policy', 'allkeys-lru');
      await until(async () => {
        expect(await Promise.all(others.map(isRead))).not.to.include(false);
        return !(await isRead(mine[0]!));
      });
      expect(await Promise.all(mine.map(isRead))).not.to.include(true);
      await until(() => store.status().findings.evicts);
      await admin.config('SET', 'maxmemory-policy', 'noeviction');
      await until(() => isRead(mine[0]!));
      await until(() => store.status().writes);
    }
  });

  it('has the store ID on one of its primaries, and is refused after it was emptied', async () => {
    await store.append();
    const ids = await Promise.all(
      nodes.map(({ admin }) => admin.get('plant-store:id').catch(() => null)),
    );
    expect(ids).to.include(`buckets-64 ${store.status().id}`);
    for (const { admin } of nodes) await admin.flushall();
    // Each connection finds it by itself.
    await until(
      async () =>
        (await store.append('bob').catch((error: unknown) => error)) instanceof StoreUnavailable,
    );
    expect(store.status().findings.another_store).to.equal(true);
  });
  // ioredis sends ASKING first, and leaves its rejection unhandled, which would end the process.
  it('fails only the calls for a slot that moves to a node whose connection breaks', async () => {
    const [home, other] = await appended();
    const [source, target] = [nodes[home]!, nodes[other]!];
    const [key] = await source.admin.keys('*alice:events');
    const slot = Number(await source.admin.call('CLUSTER', 'KEYSLOT', key!));
    await setSlot(target, slot, 'IMPORTING', await nodeId(source));
    await setSlot(source, slot, 'MIGRATING', await nodeId(target));
    await source.admin.del(
      ...(await source.admin.keys(`${key!.slice(0, key!.indexOf('}') + 1)}*`)),
    );
    const unhandled: unknown[] = [];
    const listen = (error: unknown) => void unhandled.push(error);
    process.on('unhandledRejection', listen);
    void proxies[other]!.loseReply((bytes) => /asking/i.test(bytes.toString('latin1')), 'cut');
    expect(await rejection(store.append())).to.be.instanceOf(OutcomeUnknown);
    await until(() => succeeds(store.check()));
    process.off('unhandledRejection', listen);
    expect(unhandled).to.deep.equal([]);
  });
});
