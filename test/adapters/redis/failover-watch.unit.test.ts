import { type AddressInfo, createServer } from 'node:net';
import { expect } from 'chai';
import { once } from 'node:events';
import { RedisConnection } from '../../../src/adapters/redis/connection';
import { FailoverWatch } from '../../../src/adapters/redis/failover-watch';
import { StoreUnavailable } from '../../../src/event-sourcing';
import { ErrorReply, type Reply } from '../../simulation/redis/resp';
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

const addressOf = ({ port }: FakeServer) => ({ host: '127.0.0.1', port });

describe('The watch for failovers', () => {
  /** A watch of these Sentinels; returns what it observes. */
  function watch(sentinels: readonly { host: string; port: number }[]): string[] {
    const observed: string[] = [];
    const watching = new FailoverWatch(sentinels, 'plants', {
      begins: () => void observed.push('begins'),
      ended: () => void observed.push('ended'),
    });
    ends.push(() => watching.close());
    return observed;
  }

  it('ends a failover when each Sentinel has published the switch', async () => {
    const sentinels = [await server(), await server()];
    const observed = watch(sentinels.map(addressOf));
    await until(() => sentinels.every(({ subscribers }) => subscribers === 1));
    sentinels[0]!.publish(BEGINS, FAILOVER);
    sentinels[0]!.publish(SWITCHED, TO_TWO);
    await until(() => observed.length === 1);
    sentinels[1]!.publish(BEGINS, 'master ferns 127.0.0.1 1');
    sentinels[1]!.publish(SWITCHED, TO_TWO);
    await until(() => observed.length === 2);
    expect(observed).to.deep.equal(['begins', 'ended']);
  });

  it('begins no failover for a switch that a Sentinel reports after its end', async () => {
    const known = await server();
    const late = await server();
    const { port } = late;
    await late.stop();
    ends.pop();
    const observed = watch([addressOf(known), { host: '127.0.0.1', port }]);
    await until(() => known.subscribers === 1);
    known.publish(BEGINS, FAILOVER);
    known.publish(SWITCHED, TO_TWO);
    await until(() => observed.length === 2);

    const again = await server(() => 'OK', port);
    await until(() => again.subscribers === 1);
    again.publish(SWITCHED, TO_TWO);
    // It would end a failover that had begun. The switch after it begins one.
    again.publish(ABORTED, FAILOVER);
    again.publish(SWITCHED, TO_ONE);
    await until(() => observed.length > 2);
    expect(observed).to.deep.equal(['begins', 'ended', 'begins']);
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
      if (part!.toLowerCase() === 'sentinels') return [];
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

  it('reports why the server cannot be examined', async () => {
    const { reports } = await connected({ ...PRIMARY, config: new ErrorReply('ERR CONFIG is disabled') });
    await until(() => reports.includes('Redis cannot be reached: ERR CONFIG is disabled'));
  });
});
