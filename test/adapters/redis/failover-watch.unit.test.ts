import { type AddressInfo, type Socket, createServer } from 'node:net';
import { expect } from 'chai';
import { once } from 'node:events';
import { RedisConnection } from '../../../src/adapters/redis/connection';
import { FailoverWatch } from '../../../src/adapters/redis/failover-watch';
import { type Address, Sentinels } from '../../../src/adapters/redis/sentinels';
import { StoreUnavailable } from '../../../src/event-sourcing';
import { ErrorReply, type Reply } from '../../world/simulated/redis/resp';
import { unhurried } from '../../support/patience';
import { rejection } from '../../support/rejection';
import { until } from '../../support/until';
import { FakeServer } from './fake-server';

const BEGINS = '+failover-state-send-slaveof-noone';
const SWITCHED = '+switch-master';
const ABORTED = '-failover-abort-slave-timeout';
const FAILOVER = 'master plants 127.0.0.1 1';
const TO_TWO = 'plants 127.0.0.1 1 127.0.0.1 2';
const TO_ONE = 'plants 127.0.0.1 2 127.0.0.1 1';

/** Servers and connections to end after the test. */
let ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.reverse()) await end();
  ends = [];
});

async function server(reply: (args: readonly string[]) => Reply = () => 'OK', port = 0) {
  const started = await FakeServer.start(reply, port);
  ends.push(() => started.stop());
  return started;
}

const addressOf = ({ port }: FakeServer): Address => ({ host: '127.0.0.1', port });

/** No program listens there. */
const GONE: Address = { host: '127.0.0.1', port: 1 };

/** Of a server that accepts connections and never answers, like a frozen one. */
async function silentAddress(): Promise<Address> {
  const sockets: Socket[] = [];
  const silent = createServer((socket) => void sockets.push(socket.on('error', () => {}))).listen(
    0,
    '127.0.0.1',
  );
  await once(silent, 'listening');
  ends.push(() => {
    silent.close();
    for (const socket of sockets) socket.destroy();
  });
  return { host: '127.0.0.1', port: (silent.address() as AddressInfo).port };
}

describe('The watch for failovers', () => {
  /** A watch of these Sentinels; returns what it observes. */
  function watch(sentinels: readonly Address[], longestMs?: number): string[] {
    const observed: string[] = [];
    const observer = {
      begins: () => void observed.push('begins'),
      ended: () => void observed.push('ended'),
    };
    const watching = new FailoverWatch(new Sentinels(sentinels, 'plants'), observer, longestMs);
    ends.push(() => watching.close());
    return observed;
  }

  it('ends a failover when the first Sentinel publishes the switch, though another is frozen', async () => {
    const sentinels = [await server(), await server()];
    const observed = watch([...sentinels.map(addressOf), await silentAddress()]);
    await until(() => sentinels.every(({ subscribers }) => subscribers === 1));
    sentinels[0]!.publish(BEGINS, 'master ferns 127.0.0.1 1');
    sentinels[0]!.publish(BEGINS, FAILOVER);
    await until(() => observed.length === 1);
    expect(observed).to.deep.equal(['begins']);
    sentinels[1]!.publish(SWITCHED, TO_TWO);
    await until(() => observed.length === 2);
    expect(observed).to.deep.equal(['begins', 'ended']);
  });

  it('begins no failover for a switch that another Sentinel reports after its end', async () => {
    const sentinels = [await server(), await server()];
    const observed = watch(sentinels.map(addressOf));
    await until(() => sentinels.every(({ subscribers }) => subscribers === 1));
    sentinels[0]!.publish(SWITCHED, TO_TWO);
    await until(() => observed.length === 2);
    sentinels[1]!.publish(SWITCHED, TO_TWO);
    // The next switch is a failover again.
    sentinels[1]!.publish(SWITCHED, TO_ONE);
    await until(() => observed.length > 2);
    expect(observed).to.deep.equal(['begins', 'ended', 'begins', 'ended']);
  });

  it('ends a failover that was aborted', async () => {
    const sentinel = await server();
    const observed = watch([addressOf(sentinel)]);
    await until(() => sentinel.subscribers === 1);
    sentinel.publish(ABORTED, FAILOVER);
    sentinel.publish(BEGINS, FAILOVER);
    await until(() => observed.length === 1);
    sentinel.publish(ABORTED, FAILOVER);
    await until(() => observed.length === 2);
    expect(observed).to.deep.equal(['begins', 'ended']);
  });

  it('gives up a failover of which it hears nothing more', async () => {
    const sentinel = await server();
    const observed = watch([addressOf(sentinel)], 50);
    await until(() => sentinel.subscribers === 1);
    sentinel.publish(BEGINS, FAILOVER);
    await until(() => observed.length === 2);
    expect(observed).to.deep.equal(['begins', 'ended']);
  });
});

describe('The Sentinels', () => {
  /** A Sentinel that names the primary at this port, in the configuration of this epoch. */
  const naming = (port: number, epoch: number) =>
    server(([, part]) =>
      part!.toLowerCase() === 'master'
        ? ['config-epoch', String(epoch), 'down-after-milliseconds', '5000']
        : ['127.0.0.1', String(port)],
    );

  it('name the primary of the newest configuration, whichever of them knows it', async () => {
    const [old, newest] = [await naming(1, 3), await naming(2, 4)];
    for (const order of [
      [old, newest],
      [newest, old],
    ]) {
      const sentinels = new Sentinels(order.map(addressOf), 'plants');
      expect(await sentinels.primary()).to.deep.equal({ host: '127.0.0.1', port: 2 });
      expect(sentinels.downAfterMs).to.equal(5000);
    }
  });

  it('name it in time while others are frozen or gone', async () => {
    const frozen = [await silentAddress(), await silentAddress(), GONE, GONE];
    const nodes = [...frozen.slice(0, 2), addressOf(await naming(1, 1)), ...frozen.slice(2)];
    // Without one that answers, it takes the longest time.
    const longest = rejection(new Sentinels(frozen, 'plants').primary());
    const named = new Sentinels(nodes, 'plants').primary();
    expect(await Promise.race([longest, named])).to.deep.equal({ host: '127.0.0.1', port: 1 });
    await longest;
  });

  it('fail within a second if none answers', async () => {
    const began = performance.now();
    const error = await rejection(new Sentinels([GONE, await silentAddress()], 'plants').primary());
    expect(String(error)).to.include('no Sentinel names the primary plants').and.to.include('ECONNREFUSED');
    expect(performance.now() - began).to.be.below(unhurried(1500));
  });

  it('say that they do not know the primary', async () => {
    const sentinel = await server(([, part]) => (part!.toLowerCase() === 'master' ? [] : null));
    const error = await rejection(new Sentinels([addressOf(sentinel)], 'ferns').primary());
    expect(String(error)).to.include('ferns').and.to.include(`127.0.0.1:${sentinel.port} does not watch it`);
  });
});

describe('A connection to Redis', () => {
  const PRIMARY: Readonly<Record<string, Reply>> = {
    role: ['master', 0, []],
    info: 'role:master\r\nmaxmemory_policy:noeviction\r\naof_enabled:1',
    config: ['appendfsync', 'always'],
  };

  /** A connection through a Sentinel to a primary with these replies; returns it with what it reports. */
  async function connected(
    replies: Readonly<Record<string, Reply>>,
    beforeAddress: (sentinel: FakeServer) => void = () => {},
  ) {
    const primary = await server(([name]) => replies[name!.toLowerCase()] ?? 'OK');
    const sentinel: FakeServer = await server(([name, part]) => {
      if (name!.toLowerCase() !== 'sentinel') return 'OK';
      if (part!.toLowerCase() === 'master') return [];
      // The connection then asks again.
      if (sentinel.subscribers === 0) return null;
      beforeAddress(sentinel);
      return ['127.0.0.1', String(primary.port)];
    });
    const reports: string[] = [];
    const connection = new RedisConnection({
      url: 'redis://127.0.0.1',
      sentinels: { nodes: [addressOf(sentinel)], master: 'plants' },
      timeoutMs: 1000,
      waitReplicas: 0,
      report: (_, message) => void reports.push(message),
    });
    ends.push(() => connection.close());
    return { connection, sentinel, reports };
  }

  it('is not available if a failover begins before it is established', async () => {
    let announce = (sentinel: FakeServer) => sentinel.publish(BEGINS, FAILOVER);
    const { connection, sentinel } = await connected(PRIMARY, (it) => {
      announce(it);
      announce = () => {};
    });
    await connection.examined;
    expect(() => connection.client).to.throw(StoreUnavailable);

    sentinel.publish(SWITCHED, TO_TWO);
    await until(() => connection.unavailableReason === undefined);
  });

  it('connects to another primary whose switch it missed', async () => {
    const { connection, sentinel } = await connected(PRIMARY);
    await until(() => connection.unavailableReason === undefined);
    const { port } = sentinel;
    await sentinel.stop();

    const commands: string[] = [];
    const other = await server(([name]) => {
      commands.push(name!.toLowerCase());
      return PRIMARY[name!.toLowerCase()] ?? 'OK';
    });
    await server(
      ([, part]) => (part?.toLowerCase() === 'master' ? [] : ['127.0.0.1', String(other.port)]),
      port,
    );
    await until(() => commands.includes('info') && connection.unavailableReason === undefined);
  });

  it('uses TLS to the primary of a Sentinel if the URL has it', async () => {
    let first: Buffer | undefined;
    const primary = createServer((socket) => {
      socket.on('error', () => {});
      socket.once('data', (bytes) => {
        first = bytes;
        socket.destroy();
      });
    }).listen(0, '127.0.0.1');
    await once(primary, 'listening');
    ends.push(() => primary.close());
    const { port } = primary.address() as AddressInfo;
    const sentinel = await server(([, part]) =>
      part?.toLowerCase() === 'get-master-addr-by-name' ? ['127.0.0.1', String(port)] : [],
    );
    const connection = new RedisConnection({
      url: 'rediss://127.0.0.1',
      sentinels: { nodes: [addressOf(sentinel)], master: 'plants' },
      timeoutMs: 1000,
      waitReplicas: 0,
      report: () => {},
    });
    ends.push(() => connection.close());
    await until(() => first !== undefined);
    // A TLS record of the type handshake (RFC 8446, 5.1).
    expect(first![0]).to.equal(22);
  });

  it('is available once the server passes its examination, after one that it failed', async () => {
    const info = (policy: string) => `role:master\r\nmaxmemory_policy:${policy}\r\naof_enabled:1`;
    const replies = { ...PRIMARY, info: info('allkeys-lru') };
    const { connection } = await connected(replies);
    await connection.examined;
    expect(connection.unavailableReason).to.include('maxmemory-policy');
    replies.info = info('noeviction');
    await until(() => connection.unavailableReason === undefined);
  });

  it('is available once the server can be examined', async () => {
    const replies = { ...PRIMARY, config: new ErrorReply('ERR CONFIG is disabled') as Reply };
    const { connection, reports } = await connected(replies);
    await until(() => reports.length > 0);
    replies.config = PRIMARY['config']!;
    await until(() => connection.unavailableReason === undefined);
  });

  it('reports why the server cannot be examined', async () => {
    const { reports } = await connected({ ...PRIMARY, config: new ErrorReply('ERR CONFIG is disabled') });
    await until(() => reports.includes('Redis cannot be reached: ERR CONFIG is disabled'));
  });
});
