import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'chai';
import { Redis } from 'ioredis';
import { HttpClient, type HttpResponse, servedInTime } from '../../../support/client';
import { instancesPerTest } from '../../../support/instance';
import { type RedisServer, describeOwnRedis } from '../../../support/redis';
import { storedEvents } from '../../../support/stored-events';
import { AT_ONCE_MS, PATIENT_MS } from './limits';
import { keyOf } from '../../../support/keys';

describeOwnRedis('A Redis that refuses commands', (startRedis) => {
  const startInstances = instancesPerTest();
  let redis: RedisServer;
  let alice: HttpClient;
  let bob: HttpClient;

  /** Clients with a plant each, so that connection, script and lists are warm. */
  async function start(...args: string[]): Promise<void> {
    redis = await startRedis(...args);
    const environment = { REDIS_URL: redis.url, STORE_TIMEOUT_MS: String(PATIENT_MS) };
    const [instance] = await startInstances(1, environment);
    [alice, bob] = [new HttpClient(instance!.url, 'alice'), new HttpClient(instance!.url, 'bob')];
    await Promise.all([alice.create(1, 'Fern'), bob.create(1, 'Aloe')]);
  }

  function refused({ status, error, took }: HttpResponse): void {
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

  /** Also checks that no refused write is stored. */
  async function servesAgain(): Promise<void> {
    await servedInTime(() => alice.create(3, 'Moss'));
    const stored = async (user: string) =>
      (await storedEvents(redis.admin, keyOf(user))).map(({ name }) => name);
    expect(await stored('alice')).to.deep.equal(['Fern', 'Moss']);
    expect(await stored('bob')).to.deep.equal(['Aloe']);
  }

  it('refuses writes without memory (OOM): they change nothing, and reads are answered', async () => {
    await start();
    await redis.admin.config('SET', 'maxmemory', '1');
    await refusesWrites();
    await servesReads();
    await redis.admin.config('SET', 'maxmemory', '0');
    await servesAgain();
  });

  it('refuses writes after a failed snapshot (MISCONF): they change nothing, and reads are answered', async () => {
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

  it('refuses writes without replicas (NOREPLICAS): they change nothing, and reads are answered', async () => {
    await start();
    await redis.admin.config('SET', 'min-replicas-to-write', '1');
    await refusesWrites();
    await servesReads();
    await redis.admin.config('SET', 'min-replicas-to-write', '0');
    await servesAgain();
  });

  it('refuses writes as a replica (READONLY): it is not read from, either, until it is a primary again', async () => {
    await start();
    // A replica becomes stale. Of an unreachable primary, so that it keeps the store.
    await redis.admin.replicaof('127.0.0.1', 1);
    await refusesReads();
    await refusesWrites();
    await refusesReads();
    await pause(200);
    // A failover can end without a lost connection.
    await redis.admin.replicaof('NO', 'ONE');
    await servedInTime(() => alice.list());
  });

  it('refuses all commands during a long script (BUSY)', async () => {
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

  it('refuses all commands while it loads its data (LOADING), with any estimate of the remaining time', async () => {
    await start('--appendonly', 'yes', '--key-load-delay', '300');
    await redis.admin.eval("for i = 1, 60000 do redis.call('SET', i, i) end", 0);
    await redis.kill9();
    const loaded = redis.start();
    const admin = new Redis(redis.url, { enableReadyCheck: false });
    admin.on('error', () => {});
    while (!/^loading_eta_seconds:[0-9]{2}/m.test(await admin.info('persistence'))) await pause(5);
    // The service has received the error by now.
    await pause(1200);
    await refusesWrites();
    await refusesReads();
    await admin.config('SET', 'key-load-delay', '0');
    admin.disconnect();
    await loaded;
    await servesAgain();
  });
});
