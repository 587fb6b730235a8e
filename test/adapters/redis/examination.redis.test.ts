import { streamName } from '../../../src/testing/a-stream';
import { expect } from 'chai';
import { type OpenRedisEventStore, openRedisEventStore } from '../../../src/adapters/redis';
import { BEGINNING, StoreUnavailable } from '../../../src/event-sourcing';
import { encoded, created } from '../../support/given';
import { type RedisServer, describeOwnRedis } from '../../support/redis';
import { rejection } from '../../support/rejection';
import { until } from '../../support/until';

const EXAMINE_EVERY_MS = 50;

describeOwnRedis('A running store examines its Redis regularly', (startRedis) => {
  let redis: RedisServer;
  let opened: OpenRedisEventStore;
  let log: string[];

  beforeEach(async () => {
    redis = await startRedis('--appendonly', 'yes', '--appendfsync', 'always');
    log = [];
    opened = await openRedisEventStore({
      url: redis.url,
      examineEveryMs: EXAMINE_EVERY_MS,
      report: (level, message) => log.push(`${level} ${message}`),
    });
    log = [];
  });
  afterEach(() => opened.close());

  const found = (name: keyof ReturnType<OpenRedisEventStore['status']>['findings']) =>
    opened.status().findings[name];
  const append = (user: string) =>
    opened.store.append(streamName(user), BEGINNING, 'a commit', encoded(created(1, 'Fern')));

  it('refuses it when its eviction policy changes, without a reconnect, and serves again when that is corrected', async () => {
    await redis.admin.config('SET', 'maxmemory-policy', 'allkeys-lru');
    await until(() => found('evicts'));
    expect(await rejection(append('alice'))).to.be.an.instanceOf(StoreUnavailable);
    expect(await rejection(opened.check())).to.be.an.instanceOf(StoreUnavailable);
    expect(opened.status()).to.include({ reads: false, writes: false });

    await redis.admin.config('SET', 'maxmemory-policy', 'noeviction');
    await until(() => opened.status().writes);
    expect((await append('alice')).status).to.equal('appended');
    expect(found('evicts')).to.equal(false);
    const errors = log.filter((line) => line.startsWith('error'));
    expect(errors).to.have.lengthOf(1);
    expect(errors[0]).to.match(/^error Redis must not be used: maxmemory-policy is allkeys-lru/);
    expect(log).to.include('info Redis problem resolved: evicts');
  });

  it('warns once when its persistence is weakened, and logs when it is restored', async () => {
    await redis.admin.config('SET', 'appendfsync', 'everysec');
    await until(() => found('late_fsync'));
    expect((await append('alice')).status).to.equal('appended');
    await redis.admin.config('SET', 'appendfsync', 'always');
    await until(() => !found('late_fsync'));
    expect(log.map((line) => line.split(':', 2).join(':'))).to.deep.equal([
      'warn Redis: appendfsync is everysec',
      'info Redis problem resolved: late fsync',
    ]);
  });

  it('detects that it refuses writes while it is out of memory, even without a write', async () => {
    await redis.admin.config('SET', 'maxmemory', '1');
    await until(() => found('out_of_memory'));
    expect(await opened.check()).to.deep.equal({ writes: false });
    await redis.admin.config('SET', 'maxmemory', '0');
    await until(() => !found('out_of_memory'));
    expect(await opened.check()).to.deep.equal({ writes: true });
  });

  it('detects it by a refused append, too, before the next examination', async () => {
    opened.close();
    opened = await openRedisEventStore({ url: redis.url, examineEveryMs: 600_000 });
    await redis.admin.config('SET', 'maxmemory', '1');
    await rejection(
      opened.store.append(streamName('alice'), BEGINNING, 'a commit', encoded(created(1, 'Fern'))),
    );
    expect(opened.status().findings.out_of_memory).to.equal(true);
    expect(await opened.check()).to.deep.equal({ writes: false });
  });
});

describeOwnRedis('The health check of a store', (startRedis) => {
  it('does not wait for a write that waits for replicas', async () => {
    const redis = await startRedis();
    const { store, check, close } = await openRedisEventStore({
      url: redis.url,
      waitReplicas: 1,
    });
    const written = rejection(
      store.append(streamName('alice'), BEGINNING, 'a commit', encoded(created(1, 'Fern'))),
    );
    await until(async () => (await redis.admin.info('clients')).includes('blocked_clients:1'));
    const first = await Promise.race([check().then(() => 'check'), written.then(() => 'write')]);
    await written;
    close();
    expect(first).to.equal('check');
  });
});
