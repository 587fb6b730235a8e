import { expect } from 'chai';
import { type ConversionOptions, convertStore } from '../../../src/adapters/redis/conversion';
import { identityFields, identityKey } from '../../../src/adapters/redis/store-identity';
import { BEGINNING } from '../../../src/event-sourcing';
import { HttpClient } from '../../support/client';
import { created, encoded, plantsOf } from '../../support/given';
import { instancesPerTest, startInstance } from '../../support/instance';
import { keyOf } from '../../support/keys';
import { type RedisServer, describeOwnRedis } from '../../support/redis';
import { rejection } from '../../support/rejection';
import { CONVERSION, OLD_ID, contentsOf, toOldLayout } from './old-layout';
import { openStore } from './open-store';

const USERS = ['alice', 'bob', 'auth0|{b}é 🌵/:x', 'plants/alice'];
const IDENTITY = identityKey('plant-store');

describeOwnRedis('A store that a version without buckets wrote', (startRedis) => {
  const startInstances = instancesPerTest();
  let redis: RedisServer;
  /** Of the same store, had this version written it. */
  let contents: Readonly<Record<string, string>>;

  const convert = (options: Partial<ConversionOptions> = {}) =>
    convertStore({ ...CONVERSION, url: redis.url, ...options });

  beforeEach(async () => {
    redis = await startRedis();
    const { store, archive, snapshots, close } = await openStore(redis.url);
    for (const user of USERS) {
      const head = { version: 2, commit: 'a commit' };
      await store.append(
        plantsOf(user),
        BEGINNING,
        head.commit,
        encoded(created(1, user), created(2, 'Fern')),
      );
      const snapshot = { format: 'plants-1', head, chunks: ['[[1,1,"Fern"],[2]]'] };
      if (user === 'alice') await snapshots.save(plantsOf(user), snapshot);
      if (user === 'bob')
        await archive.saveBase(plantsOf(user), { ...snapshot, archive: 'seal' }, 0, async () => {});
    }
    await close();
    await redis.admin.xadd(IDENTITY, '1-0', ...identityFields(OLD_ID));
    contents = withoutFeeds(await contentsOf(redis.admin));
    await toOldLayout(redis.admin);
    expect(await redis.admin.exists('plant-store:{alice}:events', 'plant-store:{bob}:base')).to.equal(2);
  });

  it('is refused at the start, which names the command', async () => {
    const refusal = (await rejection(startInstance({ REDIS_URL: redis.url }))) as Error;
    expect(refusal.message).to.include('must not be used').and.to.include('`plant-store events convert`');
  });

  it('has each key under its new name after the conversion, unchanged, the same id, and no feed', async () => {
    expect(await convert()).to.deep.equal({ id: OLD_ID, streams: USERS.length, refused: [] });
    expect(await contentsOf(redis.admin)).to.deep.equal(contents);
    const [instance] = await startInstances(1, { REDIS_URL: redis.url, REDIS_STORE_ID: OLD_ID });
    for (const user of USERS.slice(0, 2))
      expect((await new HttpClient(instance!.url, user).list()).names).to.deep.equal([user, 'Fern']);
  });

  it('has snapshots and bases after it that can be read', async () => {
    await convert();
    const { snapshots, close } = await openStore(redis.url);
    for (const stored of [
      await snapshots.load(plantsOf('alice')),
      await snapshots.loadBase(plantsOf('bob')),
    ]) {
      const chunks = [];
      for await (const chunk of stored!.chunks) chunks.push(chunk);
      expect(chunks).to.deep.equal(['[[1,1,"Fern"],[2]]']);
    }
    await close();
  });

  it('gets an id if it has none', async () => {
    await redis.admin.del(IDENTITY);
    const { id, streams } = await convert();
    expect(streams).to.equal(USERS.length);
    expect(await redis.admin.xrange(IDENTITY, '-', '+')).to.deep.equal([['1-0', [...identityFields(id!)]]]);
  });

  it('is converted, if it has no id, also after an instance has used it, which said how', async () => {
    await redis.admin.del(IDENTITY);
    const [instance] = await startInstances(1, { REDIS_URL: redis.url });
    const carol = new HttpClient(instance!.url, 'carol');
    expect((await new HttpClient(instance!.url, 'alice').list()).names).to.deep.equal([]);
    expect((await carol.create(1, 'Fern')).status).to.equal(200);
    await instance!.stop();
    expect(await convert()).to.deep.include({ streams: USERS.length, refused: [] });
    const [next] = await startInstances(1, { REDIS_URL: redis.url });
    expect((await new HttpClient(next!.url, 'alice').list()).names).to.deep.equal(['alice', 'Fern']);
    expect((await new HttpClient(next!.url, 'carol').list()).names).to.deep.equal(['Fern']);
  });

  it('is as it was after the conversion back', async () => {
    const before = withoutFeeds(await contentsOf(redis.admin));
    await convert();
    expect(await convert({ undo: true })).to.deep.equal({ id: OLD_ID, streams: USERS.length, refused: [] });
    expect(await contentsOf(redis.admin)).to.deep.equal(before);
  });

  it('is not converted back while it has streams that the earlier version does not know', async () => {
    await convert();
    const { store, close } = await openStore(redis.url);
    const another = plantsOf('x').replace('plants', 'gardens') as ReturnType<typeof plantsOf>;
    await store.append(another, BEGINNING, 'a commit', encoded(created(1, 'Rose')));
    await close();
    const { refused } = await convert({ undo: true });
    expect(refused).to.deep.equal([keyOf('x').replace('plants', 'gardens')]);
    expect(((await rejection(startInstance({ REDIS_URL: redis.url }))) as Error).message).to.include(
      'its conversion was not completed',
    );
    await convert();
    expect((await convert()).streams).to.equal(0);
  });

  it('is used by no instance of any version while it is converted', async () => {
    const { url } = redis;
    await convert();
    const [running] = await startInstances(1, { REDIS_URL: url });
    const alice = new HttpClient(running!.url);
    expect((await alice.create(7, 'Moss')).status).to.equal(200);
    await toOldLayout(redis.admin);
    await redis.admin.del(IDENTITY);
    await redis.admin.xadd(IDENTITY, '1-0', ...identityFields(OLD_ID));
    const answers: number[] = [];
    await convert({
      onProgress: async () =>
        void answers.push((await alice.create(8, 'Ivy')).status, (await alice.list()).status),
    });
    expect(answers).to.deep.equal([503, 503]);
    // Running instances of earlier versions compare the first value with the id.
    const [, [, first]] = (await redis.admin.xrange(IDENTITY, '-', '+'))[0]!;
    expect(first).not.to.equal(OLD_ID);
  });

  it('keeps a user whose events are stored in both layouts, and is not used before that is repaired', async () => {
    const twice = [
      keyOf('alice'),
      '1-0',
      'type',
      'PlantCreated',
      'data',
      '{"id":1,"name":"Ivy"}',
      'commit',
      'c',
    ];
    await redis.admin.xadd(...(twice as [string, ...string[]]));
    expect(await convert()).to.deep.equal({
      id: OLD_ID,
      streams: USERS.length - 1,
      refused: ['plant-store:{alice}:events'],
    });
    expect(await redis.admin.xlen('plant-store:{alice}:events')).to.equal(2);
    expect(((await rejection(startInstance({ REDIS_URL: redis.url }))) as Error).message).to.include(
      'its conversion was not completed',
    );
    await redis.admin.del(keyOf('alice'));
    expect((await convert()).refused).to.deep.equal([]);
    expect(await contentsOf(redis.admin)).to.deep.equal(contents);
  });

  it('is not created where there is none, because the address may be wrong', async () => {
    await redis.admin.flushall();
    expect(await convert()).to.deep.equal({ id: undefined, streams: 0, refused: [] });
    expect(await redis.admin.dbsize()).to.equal(0);
  });

  it('is only converted if it is the one of REDIS_STORE_ID', async () => {
    const failure = (await rejection(convert({ storeId: 'another' }))) as Error;
    expect(failure.message).to.equal(`this store has the id ${OLD_ID}, but REDIS_STORE_ID is another`);
    expect(await redis.admin.exists('plant-store:{alice}:events')).to.equal(1);
  });

  it('is converted only once the required replicas have all of it', async () => {
    const failure = (await rejection(convert({ waitReplicas: 1, timeoutMs: 200 }))) as Error;
    expect(failure.name).to.equal('OutcomeUnknown');
  });

  it('is refused by name and number if it has another number of buckets', async () => {
    await redis.admin.del(IDENTITY);
    await redis.admin.xadd(IDENTITY, '1-0', 'buckets', '32', 'id', OLD_ID);
    const refusal = (await rejection(startInstance({ REDIS_URL: redis.url }))) as Error;
    expect(refusal.message).to.include(
      'this store has 32 buckets, and this version uses stores with 64 only',
    );
  });
});

/** The conversion deletes the feeds. */
function withoutFeeds(contents: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  const others = Object.entries(contents).filter(([key]) => !key.endsWith(':feed'));
  expect(others.length, 'there are feeds').to.be.lessThan(Object.keys(contents).length);
  return Object.fromEntries(others);
}
