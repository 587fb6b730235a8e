import { once } from 'node:events';
import { type AddressInfo, type Server, createServer } from 'node:net';
import { networkInterfaces } from 'node:os';
import { expect } from 'chai';
import { type RedisOptions, openRedisEventStore } from '../../../src/adapters/redis';
import { reasonOf } from '../../../src/adapters/redis/reason';
import { StoreUnavailable } from '../../../src/event-sourcing';
import { type RedisServer, describeOwnRedis, needsLocalServers } from '../../support/redis';
import { rejection } from '../../support/rejection';
import { until } from '../../support/until';
import { openedPerTest } from './opened';

/** A server that accepts connections, and closes them at once. */
async function closingServer(port = 0): Promise<Server & { accepted: number }> {
  const server = Object.assign(createServer(), { accepted: 0 });
  server.on('connection', (socket) => {
    server.accepted++;
    socket.destroy();
  });
  await once(server.listen(port, '127.0.0.1'), 'listening');
  return server;
}

const portOf = (server: Server) => (server.address() as AddressInfo).port;
const nodes = (...ports: number[]) => ports.map((port) => ({ host: '127.0.0.1', port }));
const cluster = (...ports: number[]) => ({ url: 'redis://:wrong@x', clusterNodes: nodes(...ports) });
const sentinel = (port: number) => ({
  url: 'redis://x',
  sentinels: { nodes: nodes(port), master: 'plants' },
});

describeOwnRedis('A Redis that cannot be reached', (startRedis) => {
  const open = openedPerTest();
  let secret: RedisServer;
  let full: RedisServer;
  let shard: RedisServer;
  let isProtected: RedisServer;
  const servers: Server[] = [];
  let closing: Server;
  const close = async () => {
    const server = await closingServer();
    servers.push(server);
    return server;
  };
  after(() => {
    for (const server of servers) server.close();
  });

  before(async function () {
    secret = await startRedis();
    needsLocalServers(this, secret, 'a Cluster');
    await secret.admin.config('SET', 'requirepass', 'right');
    shard = await startRedis('--cluster-enabled', 'yes');
    await shard.admin.config('SET', 'requirepass', 'right');
    isProtected = await startRedis('--bind', '*');
    // The client of the test is connected already.
    full = await startRedis();
    await full.admin.config('SET', 'maxclients', '1');
    closing = await close();
  });

  const outside = () =>
    Object.values(networkInterfaces())
      .flat()
      .find((each) => each?.family === 'IPv4' && !each.internal)?.address;

  const NAMED: readonly (readonly [what: string, options: () => RedisOptions, reason: string])[] = [
    [
      'a port at which nothing listens',
      () => ({ url: 'redis://127.0.0.1:1' }),
      'connect ECONNREFUSED ADDRESS',
    ],
    ['a host by its name', () => ({ url: 'redis://localhost:1' }), 'localhost:1: connect ECONNREFUSED'],
    ['a host without an address', () => ({ url: 'redis://no.invalid' }), 'no.invalid:6379: getaddrinfo '],
    ['a wrong password', () => ({ url: secret.url.replace('//', '//:wrong@') }), 'ADDRESS: WRONGPASS '],
    ['no password', () => ({ url: secret.url }), 'ADDRESS: NOAUTH Authentication required'],
    [
      'TLS to a plain port',
      () => ({ url: secret.url.replace('redis', 'rediss') }),
      'ADDRESS: connect ETIMEDOUT',
    ],
    ['too many clients', () => ({ url: full.url }), 'ADDRESS: ERR max number of clients reached'],
    [
      'protected mode',
      () => ({ url: `redis://${outside()}:${isProtected.port}` }),
      'ADDRESS: DENIED Redis is running in protected mode',
    ],
    ['a server that closes', () => ({ url: `redis://127.0.0.1:${portOf(closing)}` }), 'ADDRESS: '],
    ['a wrong password of a Cluster', () => cluster(shard.port), 'ADDRESS: WRONGPASS '],
    [
      'TLS to a Cluster without it',
      () => ({ ...cluster(shard.port), url: 'rediss://:right@x' }),
      'ADDRESS: connect ETIMEDOUT',
    ],
    [
      'too many clients of a Cluster',
      () => ({ ...cluster(full.port), url: 'redis://x' }),
      'ADDRESS: ERR max number',
    ],
    ['a Cluster that is away', () => cluster(1), 'connect ECONNREFUSED ADDRESS'],
    [
      'a Cluster that is none',
      () => ({ ...cluster(secret.port), url: 'redis://:right@x' }),
      'ADDRESS: ERR This ',
    ],
    [
      'a Sentinel that is away',
      () => sentinel(1),
      'no Sentinel names the primary plants: connect ECONNREFUSED ADDRESS',
    ],
    [
      'a Sentinel that is none',
      () => sentinel(isProtected.port),
      'no Sentinel names the primary plants: ADDRESS: ERR unknown command',
    ],
  ];
  /** At the same time, because each takes until the start gives up. */
  const failures = new Map<string, unknown>();
  before(() =>
    Promise.all(
      NAMED.map(async ([what, options]) => {
        const opened = openRedisEventStore({ ...options(), allowUnreachable: false, timeoutMs: 500 });
        failures.set(what, await rejection(opened));
      }),
    ),
  );
  for (const [what, options, reason] of NAMED)
    it(`is named with its address, the code and its own words: ${what}`, () => {
      const { url, clusterNodes, sentinels } = options();
      const [node] = clusterNodes ?? sentinels?.nodes ?? [];
      const address = node ? `${node.host}:${node.port}` : new URL(url).host;
      expect(failures.get(what))
        .to.be.instanceOf(StoreUnavailable)
        .and.to.have.property('message')
        .that.includes(`Redis cannot be reached: ${reason.replace('ADDRESS', address)}`)
        .and.not.match(/wrong@|right/);
    });

  it('is named at each address that its host has', () => {
    const refused = (address: string) =>
      Object.assign(new Error(`connect ECONNREFUSED ${address}`), { code: 'ECONNREFUSED' });
    const error = new AggregateError([refused('::1:1'), refused('127.0.0.1:1')]);
    expect(reasonOf(error, 'localhost:1')).to.equal(
      'localhost:1: connect ECONNREFUSED ::1:1, localhost:1: connect ECONNREFUSED 127.0.0.1:1',
    );
  });

  for (const [what, optionsOf] of Object.entries({
    'one Redis': (port: number) => ({ url: `redis://127.0.0.1:${port}` }),
    'a Cluster': (port: number) => cluster(port),
    'a Sentinel': (port: number) => sentinel(port),
  }))
    it(`is reported once for each reason while it closes each connection: ${what}`, async () => {
      const server = await close();
      const { log } = await open(optionsOf(portOf(server)));
      const before = server.accepted;
      await until(() => server.accepted > before + 1);
      const reasons = log.filter((line) => line.includes('cannot be reached:'));
      expect(reasons).to.have.length.within(1, 3);
      expect(new Set(reasons).size).to.equal(reasons.length);
    });

  it('is reported once when it is connected, and once when it is lost', async () => {
    const redis = await startRedis('--appendonly', 'yes');
    const { log } = await open({ url: redis.url });
    await redis.kill9();
    await until(() => log.some((line) => line.includes('ECONNREFUSED')));
    await redis.start();
    await until(() => log.at(-1) === 'info Redis is connected');
    expect(log.filter((line) => /cannot be reached|was lost|is connected/.test(line))).to.deep.equal([
      'info Redis is connected',
      `warn the connection to Redis was lost (127.0.0.1:${redis.port}: the connection was closed); reconnecting`,
      `warn Redis cannot be reached: connect ECONNREFUSED 127.0.0.1:${redis.port}`,
      'info Redis is connected',
    ]);
  });

  it('fails calls in time while it is frozen, and serves them soon after', async () => {
    const redis = await startRedis();
    const store = await open({ url: redis.url, timeoutMs: 500 });
    await redis.freeze();
    expect(await rejection(store.check())).to.be.instanceOf(StoreUnavailable);
    await redis.thaw();
    await until(() =>
      store.check().then(
        ({ writes }) => writes,
        () => false,
      ),
    );
  });
});
