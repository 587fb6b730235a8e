import { execFileSync } from 'node:child_process';
import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'chai';
import { BEGINNING, type Head, OutcomeUnknown } from '../../../src/event-sourcing';
import type { Stream } from '../../../src/testing/streams';
import {
  type RedisServer,
  describeRedis,
  formCluster,
  joinAsReplica,
  startReplicated,
} from '../../support/redis';
import { rejection } from '../../support/rejection';
import { temporaryDirectory } from '../../support/temporary-directory';
import { succeeds, until } from '../../support/until';
import { THIS_MACHINE } from '../../world/network';
import { type RedisProgram, startSentinel } from '../../world/processes';
import { FERN, type Opened, openedPerTest } from './opened';

/** This process stands still meanwhile. */
const redisCli = (port: number, ...command: string[]) =>
  execFileSync('redis-cli', ['-p', String(port), ...command], { stdio: 'pipe', encoding: 'utf8' });

function roleOf(port: number): string | undefined {
  try {
    return redisCli(port, 'ROLE').split('\n')[0];
  } catch {
    // A server whose role changes disconnects its clients.
    return undefined;
  }
}

/** Resolves once the Sentinel knows that the replica follows. It notices no outage during a test. */
async function startSentinelOf(folder: string, primary: RedisServer): Promise<RedisProgram> {
  const times = { 'down-after-milliseconds': 60_000 };
  const sentinel = await startSentinel(folder, THIS_MACHINE, primary, { times });
  await until(async () => {
    const [known] = (await sentinel.call('SENTINEL', 'REPLICAS', 'plants')) as string[][];
    return known?.join().includes('master-link-status,ok') === true;
  });
  return sentinel;
}

/** The options of a store that finds its primary by this Sentinel. */
function throughSentinel({ port }: RedisProgram) {
  const sentinels = { nodes: [{ host: '127.0.0.1', port }], master: 'plants' };
  return { url: 'redis://x', sentinels };
}

/** The old primary goes on, and accepts writes that the new one never gets. */
describeRedis(
  'A planned failover by Sentinel that leaves the old primary a primary',
  (startRedis) => {
    const open = openedPerTest();
    const pathOf = temporaryDirectory();
    let primary: RedisServer;
    let replica: RedisServer;
    let sentinel: RedisProgram;
    let stream: Stream;
    let head: Head;

    beforeEach(async () => {
      [primary, replica] = await startReplicated(startRedis);
      sentinel = await startSentinelOf(pathOf('sentinel'), primary);
      stream = (await open(throughSentinel(sentinel))).stream();
      // So that the Sentinel cannot demote it.
      await primary.admin.call('ACL', 'SETUSER', 'default', '-replicaof', '-slaveof');
      head = await stream.add(BEGINNING, FERN);
      await until(async () => (await replica.admin.dbsize()) > 1);
    });
    afterEach(() => sentinel.stop());

    const beginFailover = () => redisCli(sentinel.port, 'SENTINEL', 'FAILOVER', 'plants');
    const isPromoted = () => roleOf(replica.port) === 'master';

    it('does not acknowledge a write that the old primary executes after the promotion', async () => {
      await primary.freeze();
      const append = rejection(stream.append(head, 'late', [FERN]));
      beginFailover();
      await until(isPromoted);
      await primary.thaw();
      expect(await append).to.be.instanceOf(OutcomeUnknown);
      await until(async () => (await stream.read(head).catch(() => undefined))?.status === 'read');
    });

    it('does not acknowledge a write sent after its announcement has arrived, but before that is read', async () => {
      // After the reply to this append this process reads nothing.
      head = await stream.add(head, FERN);
      beginFailover();
      while (!isPromoted()) continue;
      expect(await rejection(stream.append(head, 'late', [FERN]))).to.be.instanceOf(OutcomeUnknown);
    });
  },
);

describeRedis(
  'A planned failover between servers that accept writes even as replicas',
  (startRedis) => {
    const open = openedPerTest();
    const pathOf = temporaryDirectory();
    let sentinel: RedisProgram | undefined;
    afterEach(() => sentinel?.stop());

    /**
     * Users whose append was acknowledged before, during and after the change, and whose stream is
     * missing then.
     */
    async function lostIn(store: Opened, change: () => Promise<unknown>): Promise<string[]> {
      const acknowledged: string[] = [];
      let hasEnded = false;
      const writing = [1, 2, 3, 4].map(async (writer) => {
        for (let count = 1; !hasEnded; count++) {
          const user = `${writer}-${count}`;
          if (await succeeds(store.append(user))) acknowledged.push(user);
          else await pause(1);
        }
      });
      await until(() => acknowledged.length > 100);
      await change();
      const before = acknowledged.length;
      await until(() => acknowledged.length > before + 100);
      hasEnded = true;
      await Promise.all(writing);
      const lost: string[] = [];
      for (const user of acknowledged)
        await until(async () => {
          // The connection may still change.
          const events = await store
            .stream(user)
            .history()
            .catch(() => undefined);
          if (events?.length === 0) lost.push(user);
          return events !== undefined;
        });
      return lost;
    }

    const isReplica = ({ port }: RedisServer) => roleOf(port) === 'slave';
    const writable = ['--replica-read-only', 'no'];

    it('loses no acknowledged write: CLUSTER FAILOVER', async () => {
      const cluster = ['--cluster-enabled', 'yes', ...writable];
      const [primary, replica] = [await startRedis(...cluster), await startRedis(...cluster)];
      await formCluster([primary]);
      await joinAsReplica(replica, primary);
      const store = await open({
        url: 'redis://x',
        clusterNodes: [primary, replica],
        timeoutMs: 2000,
      });
      const failOver = () =>
        until(async () => {
          await replica.admin.call('CLUSTER', 'FAILOVER').catch(() => {});
          await pause(500);
          return !isReplica(replica);
        });
      expect(await lostIn(store, failOver)).to.deep.equal([]);
      expect(isReplica(primary)).to.equal(true);
    });

    for (const waitReplicas of [0, 1])
      it(`loses no acknowledged write: SENTINEL FAILOVER, REDIS_WAIT_REPLICAS=${waitReplicas}`, async () => {
        const [primary, replica] = await startReplicated(startRedis, ...writable);
        const watching = (sentinel = await startSentinelOf(pathOf('sentinel'), primary));
        const store = await open({ ...throughSentinel(watching), waitReplicas, timeoutMs: 2000 });
        const failOver = async () => {
          // A replica that has just synchronized may not have loaded anything.
          await until(async () => (await replica.admin.dbsize()) > 1);
          await watching.call('SENTINEL', 'FAILOVER', 'plants');
          await until(() => !isReplica(replica) && isReplica(primary));
        };
        expect(await lostIn(store, failOver)).to.deep.equal([]);
      });
  },
);
