import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'chai';
import { Redis } from 'ioredis';
import { storedEvents } from '../../../support/audit';
import { type Answer, Client, untilServed } from '../../../support/client';
import { instancesPerTest } from '../../../support/instance';
import { type RedisServer, describeOwnRedis } from '../../../support/redis';
import { PATIENT_MS, SERVES_AT_LATEST_MS, tally, underLoad, untilAllServe } from './under-load';

/** An answer that is known at once, not after a time-out. */
const AT_ONCE_MS = PATIENT_MS / 4;

describeOwnRedis('Redis that refuses', (startRedis) => {
  const startInstances = instancesPerTest();
  let redis: RedisServer;
  let alice: Client;
  let bob: Client;

  /** With a plant each, so that everything is warm: connection, script and lists. */
  async function start(...args: string[]): Promise<void> {
    redis = await startRedis(...args);
    const environment = { REDIS_URL: redis.url, STORE_TIMEOUT_MS: String(PATIENT_MS) };
    const [instance] = await startInstances(1, environment);
    [alice, bob] = [new Client(instance!.url, 'alice'), new Client(instance!.url, 'bob')];
    await Promise.all([alice.create(1, 'Fern'), bob.create(1, 'Aloe')]);
  }

  function refused({ status, error, took }: Answer): void {
    expect({ status, error }).to.deep.equal({ status: 503, error: 50300 });
    expect(took).to.be.below(AT_ONCE_MS);
  }

  async function refusesWrites(): Promise<void> {
    const [creation, deletion] = await Promise.all([alice.create(2, 'Ghost'), bob.delete(1)]);
    refused(creation);
    refused(deletion);
  }

  async function servesReads(): Promise<void> {
    expect((await alice.list()).names).to.deep.equal(['Fern']);
    // A rejection is a read, too.
    expect(await alice.create(1, 'Moss')).to.include({ error: 40003 });
    expect(await bob.delete(2)).to.include({ error: 40401 });
  }

  async function refusesReads(): Promise<void> {
    refused(await alice.list());
  }

  /** Also holds what is stored against the refusals: none of them appears. */
  async function servesAgain(): Promise<void> {
    expect(await untilServed(() => alice.create(3, 'Moss'))).to.be.below(SERVES_AT_LATEST_MS);
    const stored = async (user: string) =>
      (await storedEvents(redis.admin, `plant-store:{${user}}:events`)).map(({ name }) => name);
    expect(await stored('alice')).to.deep.equal(['Fern', 'Moss']);
    expect(await stored('bob')).to.deep.equal(['Aloe']);
  }

  it('writes for want of memory (OOM): they change nothing, and reads go on', async () => {
    await start();
    await redis.admin.config('SET', 'maxmemory', '1');
    await refusesWrites();
    await servesReads();
    await redis.admin.config('SET', 'maxmemory', '0');
    await servesAgain();
  });

  it('writes since its snapshots fail (MISCONF): they change nothing, and reads go on', async () => {
    await start('--save', '3600 1', '--enable-protected-configs', 'yes');
    const home = (await redis.admin.config('GET', 'dir'))[1]!;
    await redis.admin.config('SET', 'dir', '/proc');
    await snapshot('err');
    await refusesWrites();
    await servesReads();
    await redis.admin.config('SET', 'dir', home);
    await snapshot('ok');
    await servesAgain();
  });

  async function snapshot(outcome: 'ok' | 'err'): Promise<void> {
    await redis.admin.bgsave();
    while (!(await redis.admin.info('persistence')).includes(`rdb_last_bgsave_status:${outcome}`))
      await pause(5);
  }

  it('writes for want of replicas (NOREPLICAS): they change nothing, and reads go on', async () => {
    await start();
    await redis.admin.config('SET', 'min-replicas-to-write', '1');
    await refusesWrites();
    await servesReads();
    await redis.admin.config('SET', 'min-replicas-to-write', '0');
    await servesAgain();
  });

  it('writes since it was made a replica (READONLY): then it is not read from either, and served from once it is primary again', async () => {
    await start();
    const primary = await startRedis();
    await redis.admin.replicaof(...primary.peer);
    // What a replica has is the past, sooner or later: here it is empty soon.
    await refusesReads();
    await refusesWrites();
    await refusesReads();
    await pause(200);
    // As a failover may end: with no connection broken.
    await redis.admin.replicaof('NO', 'ONE');
    expect(await untilServed(() => alice.list())).to.be.below(SERVES_AT_LATEST_MS);
  });

  it('everything while a script keeps it busy (BUSY)', async () => {
    await start('--busy-reply-threshold', '20');
    const loop = redis.admin.duplicate();
    const killed = loop.eval('while true do end', 0).catch((error: unknown) => error);
    await pause(100);
    await refusesWrites();
    await refusesReads();
    await redis.admin.script('KILL');
    expect(await killed).to.be.an('error');
    loop.disconnect();
    await servesAgain();
  });

  it('everything while it loads its data (LOADING), however long it thinks that will take', async () => {
    await start('--appendonly', 'yes', '--key-load-delay', '300');
    await redis.admin.eval("for i = 1, 60000 do redis.call('SET', i, i) end", 0);
    await redis.kill9();
    const loaded = redis.start();
    const admin = new Redis(redis.url, { enableReadyCheck: false });
    admin.on('error', () => {});
    while (!/^loading_eta_seconds:[0-9]{2}/m.test(await admin.info('persistence'))) await pause(5);
    // By now the service has been told, too.
    await pause(1200);
    await refusesWrites();
    await refusesReads();
    await admin.config('SET', 'key-load-delay', '0');
    admin.disconnect();
    await loaded;
    await servesAgain();
  });

  it('to run scripts it has forgotten (SCRIPT FLUSH) is told them again, and no client notices', async () => {
    redis = await startRedis();
    const operations = await underLoad({ redis }, async (instances) => {
      for (let flush = 0; flush < 20; flush++) {
        await pause(20);
        await redis.admin.script('FLUSH');
      }
      await untilAllServe(instances);
    });
    expect(tally(operations)).to.include.keys('200', '204');
    expect(tally(operations)).not.to.have.any.keys('50300', '50301');
  });
});
