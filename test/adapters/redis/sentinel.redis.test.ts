import { createServer } from 'node:net';
import { expect } from 'chai';
import { Calls } from '../../../src/adapters/redis/calls';
import type { Guard } from '../../../src/adapters/redis/guard';
import { loadScript } from '../../../src/adapters/redis/script';
import { NO_LEASE } from '../../../src/adapters/redis/server-checks';
import { Sentinels } from '../../../src/adapters/redis/sentinels';
import { systemClock } from '../../../src/adapters/system';
import { BEGINNING, StoreUnavailable } from '../../../src/event-sourcing';
import { listenLocally } from '../../support/ports';
import { type RedisServer, describeRedis } from '../../support/redis';
import { rejection } from '../../support/rejection';
import { succeeds, until } from '../../support/until';
import { type Opened, openedPerTest } from './opened';
import { ScriptedSentinel } from './scripted-sentinel';

const FAILOVER = 'master plants 127.0.0.1 1';

describe('A connection to the primary that Sentinels name', () => {
  it('is closed once they name another host, even if the port is the same', async () => {
    const primary = createServer();
    const port = String(await listenLocally(primary));
    const one = await new ScriptedSentinel({ peer: ['127.0.0.1', port] }).start();
    const sentinels = new Sentinels([{ host: '127.0.0.1', port: one.port }], 'plants');
    const Connector = sentinels.connector(() => {});
    const socket = await new Connector({}).connect(() => {});
    try {
      await sentinels.ask();
      expect(socket.destroyed).to.equal(false);
      one.learn({ peer: ['127.0.0.2', port] });
      await until(async () => {
        await sentinels.ask();
        return socket.destroyed;
      });
    } finally {
      socket.destroy();
      sentinels.close();
      await one.close();
      primary.close();
    }
  });
});

describe('A Sentinel that no longer knows the primary', () => {
  it('does not outvote the other Sentinels by the epoch that it knew before', async () => {
    const before = { peer: ['127.0.0.1', '1'] } as const;
    const after = { peer: ['127.0.0.1', '2'] } as const;
    const removed = await new ScriptedSentinel(before).start();
    const other = await new ScriptedSentinel(after).start();
    removed.learn(before);
    const nodes = [removed, other].map(({ port }) => ({ host: '127.0.0.1', port }));
    const sentinels = new Sentinels(nodes, 'plants');
    const isPrimary = (address: string) =>
      until(async () => {
        await sentinels.ask();
        return sentinels.primaryAddress === address;
      });
    try {
      await isPrimary('127.0.0.1:1');
      removed.strangeReply = (asked) =>
        /master/.test(asked) ? '-ERR No such master with that name\r\n' : undefined;
      await isPrimary('127.0.0.1:2');
    } finally {
      sentinels.close();
      await removed.close();
      await other.close();
    }
  });
});

describe('Calls of a connection that waits for replicas', () => {
  it('alternate between their scripts, so that none waits for all calls of another', async () => {
    const executed: string[] = [];
    const confirm: (() => void)[] = [];
    const client = {
      callBuffer: async (_: string, [code]: readonly string[]) => {
        executed.push(/appended/.test(code!) ? 'append' : 'other');
        return [];
      },
      wait: () => new Promise((resolve) => confirm.push(() => resolve(1))),
    };
    const guard = {
      hasSentinels: false,
      callTimeoutMs: 20_000,
      waitMs: 1000,
      demands: { proof: 'role', lease: NO_LEASE },
      connection: { knownScripts: { has: () => false, add: () => {} } },
      clientFor: () => client,
    };
    const calls = new Calls(guard as unknown as Guard, {
      waitReplicas: 1,
      bounds: { calls: 1000, bytes: 2 ** 20 },
      clock: systemClock,
    });
    const [append, erase] = ['append', 'erase'].map((name) => {
      const script = loadScript(name, {});
      return () =>
        calls.make({ ...script, text: name === 'append' ? 'appended' : '' }, [], [], Number);
    });
    const made = [...Array.from({ length: 300 }, append!), erase!()];
    for (let turn = 0; turn < 4; turn++) {
      await until(async () => confirm.length > 0);
      confirm.shift()!();
    }
    await Promise.all(made);
    expect(executed).to.deep.equal(['append', 'other', 'append', 'append']);
  });
});

describe('A write through Sentinels', () => {
  it('has an unknown outcome if its connection closes right after the reply', async () => {
    const client = { callBuffer: async () => [], stream: { destroyed: true } };
    const guard = {
      hasSentinels: true,
      callTimeoutMs: 20_000,
      demands: { proof: 'role', lease: NO_LEASE },
      connection: { knownScripts: new Set() },
      clientFor: () => client,
    };
    const calls = new Calls(guard as unknown as Guard, {
      waitReplicas: 0,
      bounds: { calls: 1, bytes: 0 },
      clock: systemClock,
    });
    expect(String(await rejection(calls.make(loadScript('append'), [], [], Number)))).to.equal(
      'OutcomeUnknown: Redis did not confirm the write: it fails over to another primary',
    );
  });
});

describeRedis('The Sentinels', (startRedis) => {
  const opened = openedPerTest();
  let first: RedisServer;
  let second: RedisServer;
  let one: ScriptedSentinel;
  let other: ScriptedSentinel;

  beforeEach(async () => {
    [first, second] = [await startRedis(), await startRedis()];
    for (const { admin } of [first, second])
      await admin.set('plant-store:id', 'buckets-64 the-store');
    [one, other] = [
      await new ScriptedSentinel(first).start(),
      await new ScriptedSentinel(first).start(),
    ];
  });
  afterEach(() => Promise.all([one.close(), other.close()]));

  const open = (...all: { readonly port: number }[]) => {
    const nodes = all.map(({ port }) => ({ host: '127.0.0.1', port }));
    const sentinels = { nodes, master: 'plants' };
    return opened({
      url: 'redis://x',
      sentinels,
      allowUnreachable: false,
      examineEveryMs: 3_600_000,
    });
  };
  it('are not contacted if the URL of the store is invalid', async () => {
    const sentinels = { nodes: [{ host: '127.0.0.1', port: one.port }], master: 'plants' };
    expect(await rejection(opened({ url: 'http://x', sentinels }))).to.be.instanceOf(RangeError);
    await open(one);
    expect(one.network.accepted).to.equal(1);
  });

  const events = () =>
    Promise.all([first, second].map(async ({ admin }) => (await admin.keys('*:events')).length));
  const hears = ({ log }: Opened) => until(() => log.some((line) => line.includes('fails over')));

  for (const newest of ['the first', 'the last'])
    it(`name the primary of the newest configuration, even if only ${newest} of them knows it`, async () => {
      (newest === 'the first' ? one : other).learn(second);
      await (await open(one, other)).append();
      expect(await events()).to.deep.equal([0, 1]);
    });

  it('name the primary while others are frozen or unreachable', async () => {
    other.network.blackhole();
    await (await open(other, { port: 1 }, one)).append();
    expect(await events()).to.deep.equal([1, 0]);
  });

  it('name the new primary even if only the slower one has learned of the switch', async () => {
    other.network.delayMs = 150;
    const store = await open(one, other);
    other.learn(second);
    await other.publish('+try-failover', FAILOVER);
    await other.publish(
      '+switch-master',
      `plants ${first.peer.join(' ')} ${second.peer.join(' ')}`,
    );
    await hears(store);
    // Without the message of the switch it takes ten seconds.
    await until(() => succeeds(store.append()), 8000);
    expect(await events()).to.deep.equal([0, 1]);
  });

  it('name the new primary after a reconnection, even if the announcement of the switch was missed', async () => {
    const store = await open(one);
    one.learn(second);
    one.network.cut();
    await hears(store);
    await until(() => succeeds(store.append()));
    expect(await events()).to.deep.equal([0, 1]);
  });

  it('are asked for a new primary when too few replicas confirm the old one', async () => {
    for (const setting of ['min-replicas-to-write', 'min-replicas-max-lag'])
      await first.admin.config('SET', setting, 1);
    const replica = await startRedis('--replicaof', ...first.peer);
    const store = await open(one);
    await until(() => succeeds(store.append()));
    // It publishes nothing.
    one.learn(second);
    await replica.freeze();
    const isRead = () => succeeds(store.stream().read(BEGINNING));
    await until(async () => !(await isRead()));
    await until(isRead, 8000);
    // The connection for writes may be opened a moment later.
    await until(() => succeeds(store.append('bob')));
    expect(await events()).to.deep.equal([1, 1]);
  });

  for (const [what, begins, ends] of [
    ['is aborted without an elected leader', '+try-failover', '-failover-abort-not-elected'],
    [
      'is aborted without a suitable replica',
      '+failover-state-select-slave',
      '-failover-abort-no-good-slave',
    ],
    ['is never reported as ended', '+failover-state-send-slaveof-noone', undefined],
  ] as const)
    it(`name the same primary again after a failover that ${what}`, async () => {
      const store = await open(one, other);
      await one.publish(begins, 'master plants-2 127.0.0.1 1');
      for (const user of ['alice', 'carol', 'dave', 'erin']) await store.append(user);
      await one.publish(begins, FAILOVER);
      await until(() => !store.status().writes);
      expect(await rejection(store.append('bob'))).to.be.instanceOf(StoreUnavailable);
      if (ends) await one.publish(ends, FAILOVER);
      // Without that message it takes ten seconds.
      await until(() => store.status().writes, ends && 8000);
      await store.append('bob');
      expect(await events()).to.deep.equal([5, 0]);
    });
});
