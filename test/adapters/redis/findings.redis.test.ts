import { createServer } from 'node:net';
import { expect } from 'chai';
import type { Redis } from 'ioredis';
import { connect } from '../../../src/adapters/redis/client';
import { describeReason } from '../../../src/adapters/redis/error-text';
import { listenLocally } from '../../support/ports';
import { type RedisServer, describeRedis, startReplicated } from '../../support/redis';
import { rejection } from '../../support/rejection';
import { succeeds, until } from '../../support/until';
import { openedPerTest, REFUSED } from './opened';

describeRedis('A store on Redis', (startRedis) => {
  const open = openedPerTest();
  let redis: RedisServer;
  const start = async (...args: string[]) =>
    void (redis = await startRedis('--appendonly', 'yes', '--appendfsync', 'always', ...args));

  it('refuses a replica, and a database number that does not exist', async () => {
    const [primary, replica] = await startReplicated(startRedis);
    for (const [url, words] of [
      [replica.url, 'is a replica: connect to its primary (REDIS_URL)'],
      [`${primary.url}/16`, 'it has no database 16, only 0 to 15'],
    ] as const) {
      const error = await rejection(open({ url }));
      expect(error).to.include(REFUSED);
      expect(error).to.have.property('message').that.includes(words);
    }
  });

  it('needs neither CONFIG nor HELLO, because some servers close the connection after them', async () => {
    await start('--rename-command', 'CONFIG', '');
    const opened = await open({ url: redis.url, allowUnreachable: false });
    expect((await opened.append()).status).to.equal('appended');
    const found = Object.entries(opened.status().findings).filter(([, isFound]) => isFound);
    expect(found).to.deep.equal([['unknown_fsync', true]]);
    const clients = String(await redis.admin.client('LIST')).match(/name=plant-store .* resp=2\b/g);
    expect(clients).to.have.length(2);
  });

  it('examines Redis again, refuses it while it may evict keys, and logs each change and its remedy once', async () => {
    await start();
    const opened = await open({ url: redis.url, examineEveryMs: 50 });
    opened.log.length = 0;
    await redis.admin.config('SET', 'appendfsync', 'everysec');
    await until(() => opened.status().findings.late_fsync);
    expect((await opened.append()).status).to.equal('appended');
    await redis.admin.config('SET', 'maxmemory-policy', 'allkeys-lru');
    await until(async () => !(await succeeds(opened.append('bob'))) && !opened.status().reads);
    for (const call of [() => opened.append('bob'), () => opened.check()])
      expect(await rejection(call())).to.include(REFUSED);
    await redis.admin.config('SET', 'maxmemory-policy', 'noeviction', 'appendfsync', 'always');
    await until(() => opened.status().writes && !opened.status().findings.late_fsync);
    expect((await opened.append('carol')).status).to.equal('appended');
    const lines = opened.log.filter((line) => !line.includes('is connected'));
    expect(lines).to.have.length(4);
    expect(lines[0]).to.match(/^warn .*fsync.*CONFIG SET/);
    expect(lines[1]).to.match(/^error .*must not be used: .*lru.*CONFIG SET/);
    expect(lines.slice(2).join()).to.match(/evicts.*late fsync/);
  });

  /** With a snapshot, which a folder without rights makes fail. */
  const set = async (setting: string, value: string) => {
    await redis.admin.config('SET', setting, value);
    await redis.admin.bgsave();
    await until(async () =>
      (await redis.admin.info('persistence')).includes('rdb_bgsave_in_progress:0'),
    );
  };
  for (const [finding, setting, value] of [
    ['out_of_memory', 'maxmemory', '1'],
    ['replicas_missing', 'min-replicas-to-write', '1'],
    ['disk_error', 'dir', '/proc'],
  ] as const)
    it(`finds ${finding} by the first refused write or by an examination, and then serves only lists`, async () => {
      redis = await startRedis('--save', '3600 1', '--enable-protected-configs', 'yes');
      const [, before] = (await redis.admin.config('GET', setting)) as [string, string];
      const refused = await open({ url: redis.url, examineEveryMs: 600_000 });
      const examining = await open({ url: redis.url, examineEveryMs: 50 });
      await refused.append();
      await set(setting, value);
      const keys = await redis.admin.dbsize();
      expect(await rejection(refused.append('bob'))).to.include(REFUSED);
      await until(() => examining.status().findings[finding]);
      for (const { check, status } of [refused, examining]) {
        expect(status().refusals).to.deep.equal([finding]);
        // Required replicas are what proves that a list is current.
        if (finding !== 'replicas_missing') expect(await check()).to.deep.equal({ writes: false });
      }
      expect(await redis.admin.dbsize()).to.equal(keys);
      await set(setting, before);
      expect((await refused.append('bob')).status).to.equal('appended');
      await until(() => examining.status().writes);
    });

  it('examines Redis only once for all calls that Redis refuses at the same time', async () => {
    await start();
    const opened = await open({ url: redis.url, examineEveryMs: 600_000 });
    await opened.append();
    await redis.admin.acl('SETUSER', 'default', '-xadd');
    await redis.admin.config('RESETSTAT');
    await Promise.all(
      Array.from({ length: 50 }, (_, user) => rejection(opened.append(`user ${user}`))),
    );
    await redis.admin.ping();
    expect(/setname:calls=\d+/.exec(await redis.admin.info('commandstats'))?.[0]).to.equal(
      'setname:calls=1',
    );
  });
});

describeRedis('A Redis that cannot be reached', (startRedis) => {
  const open = openedPerTest();
  let accepted = 0;
  const closing = createServer((socket) => {
    accepted++;
    socket.destroy();
  });
  const silent = createServer((socket) => socket.resume());
  const ports: Record<string, number> = { gone: 1 };
  const password = 'p:ä/s@s #?%';

  before(async () => {
    const [secret, shard] = [await startRedis(), await startRedis('--cluster-enabled', 'yes')];
    for (const { admin } of [secret, shard]) await admin.config('SET', 'requirepass', password);
    // Its only client is that of the test.
    const full = await startRedis('--maxclients', '1');
    // It loads for 48 s, and so until the suite ends, however slowly this process runs.
    const loading = await startRedis('--appendonly', 'yes', '--key-load-delay', '200');
    await loading.admin.eval("for i = 1, 240000 do redis.call('SET', i, i) end", 0);
    await loading.kill9();
    // It does not end before the suite.
    void loading.start().catch(() => {});
    for (const [name, { port }] of Object.entries({ secret, shard, full, loading }))
      ports[name] = port;
    for (const [name, server] of Object.entries({ closing, silent }))
      ports[name] = await listenLocally(server);
  });
  after(() => [closing, silent].forEach((server) => server.close()));

  // The server, how it is used, its URL, and the reason; HOST is its address, and the user has the
  // password.
  const UNREACHABLE = [
    ['gone', 'one Redis', 'redis://HOST', 'connect ECONNREFUSED HOST'],
    ['gone', 'one Redis', 'redis://no.invalid', 'no.invalid:6379: getaddrinfo '],
    ['secret', 'one Redis', 'redis://:wrong@HOST', 'HOST: WRONGPASS '],
    ['secret', 'one Redis', 'redis://HOST', 'HOST: NOAUTH Authentication required'],
    ['secret', 'one Redis', 'rediss://HOST', 'HOST: connect ETIMEDOUT'],
    ['full', 'one Redis', 'redis://HOST', 'HOST: ERR max number of clients reached'],
    ['loading', 'one Redis', 'redis://HOST', 'HOST: LOADING '],
    ['closing', 'one Redis', 'redis://HOST', 'HOST: '],
    [
      'silent',
      'one Redis',
      'redis://HOST',
      "HOST: Socket timeout. Expecting data, but didn't receive any in 500ms",
    ],
    ['secret', 'a Cluster', 'redis://:RIGHT@x', 'HOST: ERR This '],
    ['shard', 'a Cluster', 'redis://:wrong@x', 'HOST: WRONGPASS '],
    ['shard', 'a Cluster', 'rediss://:RIGHT@x', 'HOST: connect ETIMEDOUT'],
    ['shard', 'a Cluster', 'redis://:RIGHT@x', 'the Cluster: no node serves slots'],
    ['gone', 'a Cluster', 'redis://x', 'connect ECONNREFUSED HOST'],
    ['closing', 'a Cluster', 'redis://x', 'HOST: '],
    [
      'gone',
      'a Sentinel',
      'redis://x',
      'no Sentinel names the primary plants: connect ECONNREFUSED HOST',
    ],
    ['secret', 'a Sentinel', 'redis://x', 'no Sentinel names the primary plants: HOST: NOAUTH '],
    ['closing', 'a Sentinel', 'redis://x', 'no Sentinel names the primary plants: HOST: '],
    [
      'silent',
      'a Sentinel',
      'redis://x',
      'no Sentinel names the primary plants: HOST: Command timed out',
    ],
  ] as const;

  it('is logged with its address, the error code and its own message, once for each reason', async () => {
    // At the same time, because each takes until the start gives up.
    const named = UNREACHABLE.map(async ([server, kind, ...texts]) => {
      const node = { host: '127.0.0.1', port: ports[server]! };
      const inPlace = (text: string) =>
        text
          .replace('HOST', `${node.host}:${node.port}`)
          .replace('RIGHT', encodeURIComponent(password));
      const [url, reason] = texts.map(inPlace) as [string, string];
      const { log } = await open({
        url,
        // While it loads, Redis answers only after every 1,024 keys.
        timeoutMs: server === 'loading' ? 20_000 : 500,
        ...(kind === 'a Cluster' && { clusterNodes: [node] }),
        ...(kind === 'a Sentinel' && { sentinels: { nodes: [node], master: 'plants' } }),
      });
      await until(() => log.some((line) => line.includes(`Redis cannot be reached: ${reason}`)));
      return log;
    });
    const logs = await Promise.all(named);
    // Meanwhile all connect again.
    await until(() => accepted > 12);
    for (const log of logs) expect(new Set(log).size, log.join('\n')).to.equal(log.length);
    expect(logs.join('\n')).not.to.match(/wrong@|p:ä|p%3A/);
  });

  it('is described with each address of its host, and with at most 200 characters of an error', () => {
    const refused = ['::1:1', '127.0.0.1:1'].map(
      (address) => new Error(`connect ECONNREFUSED ${address}`),
    );
    expect(describeReason(new AggregateError(refused), 'localhost:1')).to.equal(
      'localhost:1: connect ECONNREFUSED ::1:1, localhost:1: connect ECONNREFUSED 127.0.0.1:1',
    );
    expect(describeReason(new Error(`DENIED ${'x'.repeat(300)}`), 'a:1')).to.match(
      /^a:1: DENIED x{193} …$/,
    );
  });

  it('is described with the code or the name of an error that has no message', () => {
    const aggregate = Object.assign(new AggregateError([]), { code: 'ECONNREFUSED' });
    const reasons = [aggregate, new RangeError(''), new AggregateError([new Error('')])].map(
      (error) => describeReason(error, 'a:1'),
    );
    expect(reasons).to.deep.equal(['a:1: ECONNREFUSED', 'a:1: RangeError', 'a:1: Error']);
  });

  it('is logged even if only the connection for reads, or for writes, cannot be opened again', async () => {
    for (const which of [0, 1]) {
      const redis = await startRedis('--appendonly', 'yes', '--maxclients', '3');
      const { append, log, status } = await open({ url: redis.url });
      await append();
      const ids = [
        ...String(await redis.admin.client('LIST')).matchAll(/^id=(\d+).* name=plant-store /gm),
      ];
      await redis.admin.config('SET', 'maxclients', '2');
      await redis.admin.client('KILL', 'ID', ids[which]![1]!);
      await until(() =>
        log.some((line) =>
          /Redis cannot be reached: .*ERR max number of clients reached/.test(line),
        ),
      );
      expect([status().reads, status().writes]).to.have.members([true, false]);
    }
  });

  it('is tried again after at most half a second, forever', () => {
    const client = connect({ url: 'redis://127.0.0.1:1', timeoutMs: 500 }, () => {}) as Redis;
    for (const times of [1, 10, 1000])
      expect(client.options.retryStrategy!(times)).to.be.within(1, 500);
    client.disconnect();
  });

  it('is reported once when the store can connect, and once after each loss of the connection', async () => {
    const redis = await startRedis('--appendonly', 'yes');
    await redis.admin.config('SET', 'requirepass', password);
    const { log } = await open({ url: redis.url });
    await redis.admin.config('SET', 'requirepass', '');
    await until(() => log.includes('info Redis is connected'));
    for (const outage of [1, 2]) {
      await redis.kill9();
      await until(() => log.filter((line) => line.includes('ECONNREFUSED')).length === outage);
      await redis.start();
      await until(() => log.at(-1) === 'info Redis is connected');
    }
    const lostAndBack = [
      `warn the connection to Redis was lost (127.0.0.1:${redis.port}: the connection was closed); reconnecting`,
      `warn Redis cannot be reached: connect ECONNREFUSED 127.0.0.1:${redis.port}`,
      'info Redis is connected',
    ];
    expect(
      log.filter((line) => /cannot be reached:|was lost|is connected/.test(line)),
    ).to.deep.equal([
      `warn Redis cannot be reached: 127.0.0.1:${redis.port}: NOAUTH Authentication required.`,
      'info Redis is connected',
      ...lostAndBack,
      ...lostAndBack,
    ]);
  });
});
