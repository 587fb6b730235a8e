import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'chai';
import { Cluster } from 'ioredis';
import { Client, servedInTime } from '../../../support/client';
import { instancesPerTest } from '../../../support/instance';
import {
  type RedisServer,
  type StartRedis,
  describeOwnRedis,
  needsLocalServers,
} from '../../../support/redis';
import { until } from '../../../support/until';
import { STORE_TIMEOUT_MS, allServeInTime, tally, underLoad } from './under-load';

const HAND_OVERS = process.env.LONG ? 20 : 4;
const SLOTS = 16_384;
/** A little more than the time after which Redis abandons a CLUSTER FAILOVER. */
const FAIL_OVER_MS = 5500;
const MEET_MS = 1000;
const ALICE = 'plant-store:{alice}:events';

describeOwnRedis('A Redis Cluster of three primaries', (startRedis) => {
  const startInstances = instancesPerTest();
  let cluster: TestCluster;

  before(async function () {
    needsLocalServers(this, await startRedis(), 'a Cluster of several nodes');
  });

  beforeEach(async () => {
    cluster = await TestCluster.start(startRedis);
  });

  afterEach(() => cluster.close());

  const load = (faults: Parameters<typeof underLoad>[1]) =>
    underLoad({ redis: cluster, environment: { REDIS_CLUSTER_NODES: cluster.addresses } }, faults);

  it('loses and duplicates nothing while a slot migrates under load', async function () {
    this.timeout(120_000);
    const operations = await load(async (instances) => {
      for (let count = 0; count < HAND_OVERS; count++) {
        await pause(200);
        await cluster.handOver(ALICE);
        await allServeInTime(instances);
      }
    });
    expect(tally(operations)).to.include.keys('200', '204');
  });

  it('loses and duplicates nothing while a primary fails over to its replica under load', async () => {
    const operations = await load(async (instances) => {
      // There and back. (After a third request within five seconds, Redis 7 and 8 delay all writes for as long.)
      for (let count = 0; count < 2; count++) {
        await pause(200);
        await cluster.failOver();
        await allServeInTime(instances);
      }
    });
    expect(tally(operations)).to.include.keys('200', '204');
  });

  it('loses and duplicates nothing, and ends no instance, while a slot migrates to a frozen primary under load', async () => {
    const operations = await load(async (instances) => {
      // The old primary of the stream now redirects clients to the new one.
      await cluster.handOver(ALICE, async (target) => {
        await target.freeze();
        await pause(STORE_TIMEOUT_MS * 1.5);
        await target.thaw();
        await allServeInTime(instances);
      });
    });
    expect(tally(operations)).to.include.keys('200', '204', '50300');
  });

  it('serves the users of a killed primary after its replica took over, and all others meanwhile', async () => {
    const [instance] = await startInstances(1, { REDIS_CLUSTER_NODES: cluster.addresses });
    const [alice, bob] = [new Client(instance!.url, 'alice'), new Client(instance!.url, 'bob')];
    await alice.create(1, 'Fern');
    await cluster.settle();

    await cluster.killPrimary();
    expect((await alice.list()).error).to.equal(50300);
    const created: string[] = [];
    for (let id = 1; !(await cluster.replicaTookOver()); id++) {
      expect((await bob.create(id, `Ivy ${id}`)).status).to.equal(200);
      created.push(`Ivy ${id}`);
    }

    await servedInTime(() => alice.create(2, 'Moss'));
    expect((await alice.list()).names).to.deep.equal(['Fern', 'Moss']);
    expect((await bob.list()).names).to.deep.equal(created);
    expect(created.length).to.be.above(10);
  });
});

/** Three primaries, with alice's stream on the first and bob's on the second, and a replica of the first. */
class TestCluster {
  private constructor(
    private readonly nodes: readonly [RedisServer, RedisServer, RedisServer],
    private readonly replica: RedisServer,
    readonly admin: Cluster,
  ) {}

  static async start(startRedis: StartRedis): Promise<TestCluster> {
    const start = () =>
      startRedis(
        ...['--cluster-enabled', 'yes', '--cluster-node-timeout', '2000'],
        ...['--cluster-require-full-coverage', 'no'],
      );
    const [replica, ...nodes] = await Promise.all([start(), start(), start(), start()]);
    const [one] = nodes;
    for (const [index, { admin }] of nodes.entries()) {
      const [first, next] = [index, index + 1].map((third) => Math.floor((third * SLOTS) / 3));
      await admin.call('CLUSTER', 'ADDSLOTSRANGE', String(first), String(next! - 1));
    }
    const all = [...nodes, replica];
    const haveMet = async () => (await Promise.all(all.map(known))).every((count) => count === all.length);
    // Nodes that are slow in the handshake drop it.
    do {
      for (const { host, port } of all.slice(1)) await one.admin.call('CLUSTER', 'MEET', host, String(port));
    } while (!(await inTime(haveMet, MEET_MS)));
    await replica.admin.cluster('REPLICATE', await idOf(one));

    const admin = new Cluster([{ host: one.host, port: one.port }]);
    // The pending commands reject.
    admin.on('error', () => {});
    const cluster = new TestCluster(nodes, replica, admin);
    await cluster.settle();
    return cluster;
  }

  /** The first node; clients learn the others from it. */
  get url(): string {
    return this.nodes[1].url;
  }

  get addresses(): string {
    return this.nodes.map(({ host, port }) => `${host}:${port}`).join();
  }

  /** Waits until every node knows the owners of all slots, and the replica is in sync. */
  async settle(): Promise<void> {
    for (const node of [...this.nodes, this.replica]) {
      const isWhole = async () => {
        const info = await node.admin.cluster('INFO');
        return info.includes('cluster_state:ok') && info.includes(`cluster_slots_ok:${SLOTS}`);
      };
      await until(isWhole);
      await until(async () => /\bslave \w+ .* connected$/m.test(await nodesOf(node)));
    }
    await linked(this.replica);
    await this.nodes[0].admin.wait(1, 1000);
  }

  /**
   * Migrates the slot of `key` with its keys to the other of the first two nodes, in the steps of `redis-cli --cluster
   * reshard`. `meanwhile` runs when the target has the keys but not yet the slot.
   */
  async handOver(
    key: string,
    meanwhile: (target: RedisServer) => Promise<unknown> = () => pause(50),
  ): Promise<void> {
    const [one, other] = this.nodes;
    const slot = await slotOf(one, key);
    const [source, target] = (await has(one, slot)) ? [one, other] : [other, one];
    const [from, to] = [await idOf(source), await idOf(target)];
    await target.admin.cluster('SETSLOT', slot, 'IMPORTING', from);
    await source.admin.cluster('SETSLOT', slot, 'MIGRATING', to);
    await pause(50);
    const keys = await source.admin.cluster('GETKEYSINSLOT', slot, 100);
    await source.admin.migrate(target.host, target.port, '', 0, 1000, 'KEYS', ...keys);
    await meanwhile(target);
    for (const node of [target, source]) await node.admin.cluster('SETSLOT', slot, 'NODE', to);
  }

  /** Fails over from the primary to its replica, as before an upgrade; repeated on a busy machine. */
  async failOver(): Promise<void> {
    const [one] = this.nodes;
    const replica = (await isPrimary(one)) ? this.replica : one;
    await linked(replica);
    do await replica.admin.cluster('FAILOVER');
    while (!(await inTime(() => isPrimary(replica), FAIL_OVER_MS)));
  }

  killPrimary(): Promise<void> {
    return this.nodes[0].kill9();
  }

  replicaTookOver(): Promise<boolean> {
    return isPrimary(this.replica);
  }

  close(): void {
    this.admin.disconnect();
  }
}

async function idOf({ admin }: RedisServer): Promise<string> {
  return await admin.cluster('MYID');
}

async function nodesOf({ admin }: RedisServer): Promise<string> {
  return (await admin.cluster('NODES')) as string;
}

async function slotOf({ admin }: RedisServer, key: string): Promise<number> {
  return await admin.cluster('KEYSLOT', key);
}

async function has(node: RedisServer, slot: number): Promise<boolean> {
  const id = await idOf(node);
  const slots = await node.admin.cluster('SLOTS');
  return slots.some(([first, last, owner]) => owner?.[2] === id && first <= slot && slot <= last);
}

/** Number of nodes that it knows, including itself, after the handshake. */
async function known(node: RedisServer): Promise<number> {
  const lines = (await nodesOf(node)).trim().split('\n');
  return lines.filter((line) => / connected/.test(line) && !line.includes('handshake')).length;
}

async function linked({ admin }: RedisServer): Promise<void> {
  await until(async () => (await admin.info('replication')).includes('master_link_status:up'));
}

/** Whether the request succeeded; otherwise it may be repeated. */
function inTime(happened: () => Promise<boolean>, withinMs: number): Promise<boolean> {
  return until(happened, withinMs).then(
    () => true,
    () => false,
  );
}

async function isPrimary({ admin }: RedisServer): Promise<boolean> {
  return (await admin.role())[0] === 'master';
}
