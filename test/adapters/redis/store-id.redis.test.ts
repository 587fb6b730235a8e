import { expect } from 'chai';
import { BEGINNING, StoreUnavailable } from '../../../src/event-sourcing';
import { type RedisServer, describeRedis, startReplicated } from '../../support/redis';
import { rejection } from '../../support/rejection';
import { TcpProxy } from '../../support/tcp-proxy';
import { until } from '../../support/until';
import { CALLS, openedPerTest } from './opened';

const ONE = '11111111-1111-4111-8111-111111111111';
const OTHER = '22222222-2222-4222-8222-222222222222';
const KEY = 'plant-store:id';

describeRedis('The store ID', (startRedis) => {
  const open = openedPerTest();
  let redis: RedisServer;
  beforeEach(async () => (redis = await startRedis()));

  const setId = (id: string) => redis.admin.set(KEY, `buckets-64 ${id}`);
  const idOf = async ({ admin } = redis) => (await admin.get(KEY))?.replace('buckets-64 ', '');
  const refusal = async (storeId?: string) =>
    String(await rejection(open({ url: redis.url, storeId })));

  it('makes every kind of call to an emptied Redis fail, and nothing is written', async () => {
    await setId(ONE);
    for (const [what, call] of Object.entries(CALLS)) {
      const opened = await open({ url: redis.url, examineEveryMs: 600_000 });
      expect((await opened.append()).status).to.equal('appended');
      await redis.admin.flushall();
      expect(await rejection(call(opened)), what).to.be.instanceOf(StoreUnavailable);
      await until(() => opened.status().findings.another_store);
      expect(await rejection(opened.append('carol')), what).to.be.instanceOf(StoreUnavailable);
      expect(await redis.admin.dbsize(), what).to.equal(0);
      const errors = opened.log.filter((line) => line.startsWith('error'));
      expect(errors, what).to.have.length(1);
      expect(errors[0]).to.match(/this store has no id.* the one with the id \S{36}:/);
    }
    expect((await (await open({ url: redis.url })).append()).status).to.equal('appended');
  });

  it('makes calls to a different store at the same address fail until the first one is back', async () => {
    await setId(ONE);
    const { append, log, status } = await open({ url: redis.url, examineEveryMs: 50 });
    await setId(OTHER);
    await until(() => status().findings.another_store);
    // It connects again: the address may lead elsewhere by now.
    await until(async () => /connections_received:\d\d/.test(await redis.admin.info('stats')));
    expect(await rejection(append())).to.be.instanceOf(StoreUnavailable);
    expect(log.join()).to.include(
      `has the id ${OTHER}, but this instance uses the one with the id ${ONE}`,
    );
    expect(await redis.admin.dbsize()).to.equal(1);
    await setId(ONE);
    await until(() => status().writes);
    expect((await append()).status).to.equal('appended');
  });

  it('is created once by instances that start at the same time, and only one logs that it is new', async () => {
    const all = await Promise.all([1, 2, 3, 4, 5].map(() => open({ url: redis.url })));
    const id = await idOf();
    expect(id).to.match(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
    for (const { log } of all) expect(log).to.include(`info the store has the id ${id}`);
    const creators = all.filter(({ log }) => /warn this is a new, empty store/.test(log.join()));
    expect(creators).to.have.length(1);
  });

  it('is added to a database that contains other keys, and their number is logged', async () => {
    await redis.admin.mset('one', 1, 'two', 2);
    const { log } = await open({ url: redis.url });
    expect(log.join()).to.match(/this store had no id, and gets the id .* its database has 2 keys/);
  });

  it('is created neither by a command nor if REDIS_STORE_ID names one', async () => {
    const opened = await open({ url: redis.url, createsId: false });
    const missing = `has no id, as if it was new or emptied, but REDIS_STORE_ID is ${ONE}`;
    expect(await refusal(ONE)).to.include(missing);
    expect([opened.status().id, await redis.admin.dbsize()]).to.deep.equal([undefined, 0]);
    await setId(ONE);
    expect((await open({ url: redis.url, storeId: ONE })).status().writes).to.equal(true);
    expect(await refusal(OTHER)).to.include(`has the id ${ONE}, but REDIS_STORE_ID is ${OTHER}`);
  });

  it('is refused if it does not have the form of this version', async () => {
    for (const value of ['something else', `buckets-32 ${ONE}`, ONE]) {
      await redis.admin.set(KEY, value);
      expect(await refusal()).to.include(
        `the key ${KEY} has "${value}", not an id of this version`,
      );
      expect(await redis.admin.dbsize()).to.equal(1);
    }
  });

  it('is created later if Redis refuses writes at first, and lists are served meanwhile', async () => {
    await redis.admin.config('SET', 'maxmemory', '1');
    const opened = await open({ url: redis.url, examineEveryMs: 50 });
    expect((await opened.stream().read(BEGINNING)).status).to.equal('read');
    expect(opened.status().id).to.equal(undefined);
    await redis.admin.config('SET', 'maxmemory', '0');
    await until(() => opened.status().id !== undefined);
    expect(opened.status().id).to.equal(await idOf());
  });

  it('does not take effect before the replicas have it', async () => {
    const [primary, replica] = await startReplicated(startRedis);
    await replica.freeze();
    const opened = await open({
      url: primary.url,
      waitReplicas: 1,
      examineEveryMs: 50,
      timeoutMs: 500,
    });
    await until(async () => (await idOf(primary)) !== undefined);
    expect(opened.status().id).to.equal(undefined);
    await replica.thaw();
    await until(() => opened.status().id !== undefined);
    expect(await idOf(replica)).to.equal(opened.status().id);
  });

  /** It is written again, so that the next WAIT waits for it. */
  const isRepeated = async ({ admin }: RedisServer) =>
    /cmdstat_set:calls=[2-9]/.test(await admin.info('commandstats'));

  it('is created again if it was lost before the replicas had it', async () => {
    const [primary, replica] = await startReplicated(startRedis);
    await replica.freeze();
    const options = { waitReplicas: 1, examineEveryMs: 50, timeoutMs: 500 };
    const opened = await open({ url: primary.url, ...options });
    await until(() => isRepeated(primary));
    const lost = await idOf(primary);
    await primary.admin.flushall();
    await until(async () => ![undefined, lost].includes(await idOf(primary)));
    await replica.thaw();
    await until(() => opened.status().id !== undefined);
    expect(await idOf(replica)).to.equal(opened.status().id);
  });

  it('does not take effect before the replicas have it, even if the reply to WAIT is lost', async () => {
    const [primary, replica] = await startReplicated(startRedis);
    await replica.freeze();
    const proxy = await TcpProxy.to(primary);
    void proxy.loseReply((bytes) => /wait/i.test(bytes.toString('latin1')), 'cut');
    const opened = await open({
      url: `redis://127.0.0.1:${proxy.port}`,
      waitReplicas: 1,
      examineEveryMs: 50,
      timeoutMs: 500,
    });
    await until(async () => opened.status().id !== undefined || (await isRepeated(primary)));
    expect(opened.status().id).to.equal(undefined);
    await replica.thaw();
    await until(() => opened.status().id !== undefined);
    expect(await idOf(replica)).to.equal(opened.status().id);
    await proxy.close();
  });
});
