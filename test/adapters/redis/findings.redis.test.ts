import { expect } from 'chai';
import { Redis } from 'ioredis';
import type { RedisOptions } from '../../../src/adapters/redis';
import { BEGINNING, StoreUnavailable } from '../../../src/event-sourcing';
import { encoded, ferns } from '../../support/given';
import { type RedisServer, describeOwnRedis } from '../../support/redis';
import { rejection } from '../../support/rejection';
import { TcpProxy } from '../../support/tcp-proxy';
import { until } from '../../support/until';
import { type Replace, oddServer } from './odd-server';
import { type Opened, openedPerTest } from './opened';

const [fern] = encoded(...ferns(1));
const DURABLE = ['--appendonly', 'yes', '--appendfsync', 'always'];

describeOwnRedis('A store on Redis', (startRedis) => {
  const open = openedPerTest();
  let redis: RedisServer;
  const start = async (...args: string[]) => void (redis = await startRedis(...DURABLE, ...args));
  const refusal = async (options: RedisOptions) => {
    const failure = (await rejection(open(options))) as Error;
    expect(failure).to.be.instanceOf(StoreUnavailable);
    return failure.message;
  };
  const append = ({ stream }: Opened, user?: string) => stream(user).append(BEGINNING, 'c', [fern!]);

  it('refuses a database that Redis does not have, and uses one that it has', async () => {
    await start('--databases', '4');
    expect(await refusal({ url: `${redis.url}/4` })).to.include('it has no database 4, only 0 to 3');
    await append(await open({ url: `${redis.url}/3` }));
    expect(await redis.admin.info('keyspace'))
      .to.match(/^db3:keys=3/m)
      .and.not.match(/^db[^3]/m);
  });

  it('refuses a replica, also if only the connection for reads leads to it', async () => {
    await start();
    const replica = await startRedis('--replicaof', ...redis.peer);
    const ports = [redis.port];
    // The proxy reads it for each connection; the store opens the one for writes first.
    const proxy = await TcpProxy.to({
      host: redis.host,
      get port() {
        return ports.shift() ?? replica.port;
      },
    });
    for (const url of [replica.url, `redis://127.0.0.1:${proxy.port}`])
      expect(await refusal({ url })).to.include('is a replica: connect to its primary (REDIS_URL)');
    await proxy.close();
  });

  const error = ['EVAL', "return redis.error_reply('DENIED by the provider')", '0'];
  const infoWith = (pattern: string, text: string) => [
    'EVAL',
    `return (string.gsub(redis.call('INFO'), '${pattern}', '${text}'))`,
    '0',
  ];
  const only =
    (name: string, other: readonly string[] | 'close'): Replace =>
    (command) =>
      command === name ? other : undefined;
  for (const [what, replace, found] of [
    ['refuses CONFIG in words of its own', only('CONFIG', error), ['unknown_fsync']],
    ['refuses INFO in words of its own', only('INFO', error), ['info_forbidden']],
    [
      'hides maxmemory_policy',
      only('INFO', infoWith('maxmemory_policy:[^\\r]*\\r\\n', '')),
      ['unknown_eviction'],
    ],
    ['refuses HELLO in words of its own', only('HELLO', error), []],
    ['closes the connection at HELLO', only('HELLO', 'close'), []],
  ] as const)
    it(`serves where Redis ${what}, and names what cannot be read`, async () => {
      await start();
      const odd = await oddServer(redis, replace);
      const opened = await open({ url: odd.url, allowUnreachable: false });
      expect((await append(opened)).status).to.equal('appended');
      expect(await opened.stream().history()).to.have.length(1);
      expect(await opened.check()).to.deep.equal({ writes: true });
      const { findings } = opened.status();
      expect(Object.entries(findings).flatMap(([name, isFound]) => (isFound ? [name] : []))).to.deep.equal(
        found,
      );
      odd.close();
    });

  it('refuses Redis before 7 as too old', async () => {
    await start();
    const odd = await oddServer(
      redis,
      only('INFO', infoWith('redis_version:[^\\r]*', 'redis_version:6.2.14')),
    );
    expect(await refusal({ url: odd.url })).to.include(
      'it is Redis 6.2.14, which is too old: use Redis 7.0 or later',
    );
    odd.close();
  });

  it('examines Redis again, refuses it while it evicts, and logs each change once with its correction', async () => {
    await start();
    const opened = await open({ url: redis.url, examineEveryMs: 50 });
    opened.log.length = 0;
    await redis.admin.config('SET', 'appendfsync', 'everysec');
    await until(() => opened.status().findings.late_fsync);
    expect((await append(opened)).status).to.equal('appended');
    await redis.admin.config('SET', 'maxmemory-policy', 'allkeys-lru');
    for (const call of [() => append(opened, 'bob'), () => opened.check()])
      await until(async () => {
        const failure: unknown = await call().catch((error: unknown) => error);
        return failure instanceof StoreUnavailable && failure.reason === 'store_refused';
      });
    await redis.admin.config('SET', 'maxmemory-policy', 'noeviction', 'appendfsync', 'always');
    await until(() => opened.status().writes && !opened.status().findings.late_fsync);
    expect((await append(opened, 'carol')).status).to.equal('appended');
    const texts = [
      /^warn .*fsync.*CONFIG SET/,
      /^error .*must not be used: .*lru.*CONFIG SET/,
      /evicts/,
      /late fsync/,
    ];
    const lines = opened.log.filter((line) => !line.includes('is connected'));
    expect(lines).to.have.length(texts.length);
    for (const [index, text] of texts.entries()) expect(lines[index]).to.match(text);
  });

  const set = (name: string, value: string) => redis.admin.config('SET', name, value);
  let home: string;
  const bgsave = async (outcome: string) => {
    await redis.admin.bgsave();
    await until(async () =>
      (await redis.admin.info('persistence')).includes(`rdb_last_bgsave_status:${outcome}`),
    );
  };
  for (const [finding, begin, end] of [
    ['out_of_memory', () => set('maxmemory', '1'), () => set('maxmemory', '0')],
    ['replicas_missing', () => set('min-replicas-to-write', '1'), () => set('min-replicas-to-write', '0')],
    [
      'disk_error',
      () => set('dir', '/proc').then(() => bgsave('err')),
      () => set('dir', home).then(() => bgsave('ok')),
    ],
  ] as const)
    for (const examineEveryMs of [600_000, 50])
      it(`finds ${finding} by ${examineEveryMs > 50 ? 'the first refused write' : 'an examination'}; nothing is written, and lists go on`, async () => {
        redis = await startRedis('--save', '3600 1', '--enable-protected-configs', 'yes');
        [, home] = (await redis.admin.config('GET', 'dir')) as [string, string];
        const opened = await open({ url: redis.url, examineEveryMs });
        await append(opened);
        await begin();
        const keys = await redis.admin.dbsize();
        if (examineEveryMs > 50) {
          const failure = await rejection(append(opened, 'bob'));
          expect(failure).to.include({ name: 'StoreUnavailable', reason: 'store_refused' });
        } else await until(() => opened.status().findings[finding]);
        expect(opened.status().refusals).to.deep.equal([finding]);
        // Required replicas are what proves that a list is current.
        if (finding !== 'replicas_missing') expect(await opened.check()).to.deep.equal({ writes: false });
        expect(await redis.admin.dbsize()).to.equal(keys);
        await end();
        expect((await append(opened, 'bob')).status).to.equal('appended');
        if (examineEveryMs === 50) await until(() => opened.status().writes);
      });

  it('is unavailable during a long script (BUSY), and serves after it', async () => {
    await start('--busy-reply-threshold', '1');
    const opened = await open({ url: redis.url });
    await append(opened);
    const loop = redis.admin.duplicate();
    const killed = rejection(loop.eval('while true do end', 0));
    await until(async () => (await redis.admin.ping().catch(String)).includes('BUSY'));
    for (const call of [() => opened.stream().read(BEGINNING), () => append(opened, 'bob')])
      expect(await rejection(call())).to.include({ name: 'StoreUnavailable', reason: 'store_refused' });
    await redis.admin.script('KILL');
    expect(String(await killed)).to.include('killed');
    loop.disconnect();
    expect((await append(opened, 'bob')).status).to.equal('appended');
  });

  it('names LOADING while Redis loads its data, with any estimate of the remaining time, and serves after it', async () => {
    await start('--key-load-delay', '300');
    const opened = await open({ url: redis.url });
    await append(opened);
    await redis.admin.eval("for i = 1, 60000 do redis.call('SET', i, i) end", 0);
    await redis.kill9();
    const loaded = redis.start();
    await until(() => opened.log.some((line) => line.includes('LOADING')));
    expect(await rejection(opened.check())).to.be.instanceOf(StoreUnavailable);
    const admin = new Redis(redis.url, { enableReadyCheck: false });
    await admin.config('SET', 'key-load-delay', '0');
    admin.disconnect();
    await loaded;
    await until(() => opened.status().writes);
    expect(await opened.stream().history()).to.have.length(1);
  });

  it('authenticates with a password of any characters, also once it becomes valid; the log has the reason once', async () => {
    const password = 'p:ä/s@s #?%';
    await start();
    await redis.admin.config('SET', 'requirepass', 'other');
    const opened = await open({ url: redis.url.replace('//', `//:${encodeURIComponent(password)}@`) });
    const connections = async () =>
      /total_connections_received:(\d+)/.exec(await redis.admin.info('stats'))![1];
    await until(async () => Number(await connections()) >= 10);
    expect(opened.log.filter((line) => line.includes('WRONGPASS'))).to.have.length(1);
    expect(opened.log.join()).not.to.include(password);
    await redis.admin.config('SET', 'requirepass', password);
    await until(() => opened.status().writes);
    expect((await append(opened)).status).to.equal('appended');
  });

  it('checks its health while a write waits for replicas', async () => {
    await start();
    const opened = await open({ url: redis.url, waitReplicas: 1 });
    const written = rejection(append(opened)).then(() => 'write');
    await until(async () => (await redis.admin.info('clients')).includes('blocked_clients:1'));
    expect(await Promise.race([opened.check().then(() => 'check'), written])).to.equal('check');
    opened.close();
    await written;
  });
});
