import { execFileSync } from 'node:child_process';
import { expect } from 'chai';
import { BEGINNING, type Head, OutcomeUnknown, StoreUnavailable } from '../../../src/event-sourcing';
import { type RedisServer, describeOwnRedis, startReplicated } from '../../support/redis';
import { rejection } from '../../support/rejection';
import { temporaryDirectory } from '../../support/temporary-directory';
import { until } from '../../support/until';
import { THIS_MACHINE } from '../../world/network';
import { type RedisProgram, startSentinel } from '../../world/processes';
import { FERN, type Opened, openedPerTest } from './opened';

/** This process stands still meanwhile. */
const redisCli = (port: number, ...command: string[]) =>
  execFileSync('redis-cli', ['-p', String(port), ...command], { stdio: 'pipe', encoding: 'utf8' });

/** The old primary goes on, and accepts writes that the new one never gets. */
describeOwnRedis(
  'A planned failover by Sentinel, after which the old primary is not demoted,',
  (startRedis) => {
    const open = openedPerTest();
    const pathOf = temporaryDirectory();
    let primary: RedisServer;
    let replica: RedisServer;
    let sentinel: RedisProgram;
    let store: Opened;

    beforeEach(async () => {
      [primary, replica] = await startReplicated(startRedis);
      const times = { 'down-after-milliseconds': 60_000 };
      sentinel = await startSentinel(pathOf('sentinel'), THIS_MACHINE, primary, { times });
      await until(async () => {
        const [known] = (await sentinel.call('SENTINEL', 'REPLICAS', 'plants')) as string[][];
        return known?.join().includes('master-link-status,ok') === true;
      });
      const nodes = [{ host: '127.0.0.1', port: sentinel.port }];
      store = await open({ url: 'redis://127.0.0.1', sentinels: { nodes, master: 'plants' } });
      // So that the Sentinel cannot demote it.
      await primary.admin.call('ACL', 'SETUSER', 'default', '-replicaof', '-slaveof');
    });
    afterEach(() => sentinel.stop());

    const beginFailover = () => sentinel.call('SENTINEL', 'FAILOVER', 'plants');
    const isPromoted = (): boolean => {
      try {
        return redisCli(replica.port, 'ROLE').startsWith('master');
      } catch {
        // At its promotion it disconnects its clients.
        return false;
      }
    };
    const isReplicated = () => until(async () => (await replica.admin.dbsize()) > 1);

    it('loses nothing that was acknowledged while many streams are written', async () => {
      let isOver = false;
      const failures: unknown[] = [];
      const writers = Array.from({ length: 20 }, async (_, number) => {
        const stream = store.stream(`user ${number}`);
        let head: Head = BEGINNING;
        while (!isOver) {
          const next = await stream.add(head, FERN).catch((error: unknown) => void failures.push(error));
          // The rest of its writes is another test.
          if (next === undefined) break;
          head = next;
        }
        return head;
      });
      await isReplicated();
      await beginFailover();
      await until(isPromoted);
      await until(() => store.status().writes);
      isOver = true;
      const heads = await Promise.all(writers);
      const successor = await open({ url: replica.url });
      for (const [number, head] of heads.entries())
        expect(await successor.stream(`user ${number}`).read(head)).to.include({ status: 'read' });
      for (const failure of failures)
        expect(failure).to.satisfy(
          (it: unknown) => it instanceof OutcomeUnknown || it instanceof StoreUnavailable,
        );
      expect(await primary.admin.role()).to.include('master');
    });

    it('does not acknowledge a write that the old primary executes after the promotion', async () => {
      const stream = store.stream();
      const head = await stream.add(BEGINNING, FERN);
      await isReplicated();
      await primary.freeze();
      const append = rejection(stream.append(head, 'late', [FERN]));
      await beginFailover();
      await until(isPromoted);
      await primary.thaw();
      expect(await append).to.be.instanceOf(OutcomeUnknown);
      await until(async () => (await stream.read(head).catch(() => undefined))?.status === 'read');
    });

    it('does not acknowledge a write that was sent when its announcement had arrived and was not read yet', async () => {
      const stream = store.stream();
      const first = await stream.add(BEGINNING, FERN);
      await isReplicated();
      // This process reads nothing after the reply to this append.
      const head = await stream.add(first, FERN);
      redisCli(sentinel.port, 'SENTINEL', 'FAILOVER', 'plants');
      while (!isPromoted()) continue;
      expect(await rejection(stream.append(head, 'late', [FERN]))).to.be.instanceOf(OutcomeUnknown);
    });
  },
);
