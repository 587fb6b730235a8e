import { randomUUID } from 'node:crypto';
import { getHeapStatistics } from 'node:v8';
import { expect } from 'chai';
import { Keys } from '../../../src/adapters/redis';
import { bucketOf } from '../../../src/adapters/redis/keys';
import {
  BEGINNING,
  BrokenSnapshot,
  type Head,
  OutcomeUnknown,
  START,
  StoreUnavailable,
} from '../../../src/event-sourcing';
import { streamName } from '../../../src/testing/streams';
import { created, deleted, encoded, plantId, plantStreamOf } from '../../support/given';
import { describeRedis, describeSharedRedis, startReplicated } from '../../support/redis';
import { rejection } from '../../support/rejection';
import { until } from '../../support/until';
import { FERN, type Opened, REFUSED, openedPerTest } from './opened';

const ALICE = plantStreamOf('alice');
/**
 * With `everysec`, Redis keeps an acknowledged write in its own memory while an earlier one is
 * synced: `kill -9` loses it.
 */
const DURABLE = ['--appendonly', 'yes', '--appendfsync', 'always'];

describeSharedRedis('What a store keeps in Redis', (redis) => {
  const open = openedPerTest();
  let opened: Opened;
  let prefix: string;
  beforeEach(async () => {
    prefix = `${redis.prefix}-${randomUUID()}`;
    opened = await open({ url: redis.url, keyPrefix: prefix });
  });

  /** All keys, without their prefix, with what they have. */
  async function content(): Promise<Record<string, unknown>> {
    const { admin } = redis;
    const read: Record<string, (key: string) => Promise<unknown>> = {
      string: (key) => admin.get(key),
      zset: (key) => admin.zrange(key, '0', '-1', 'WITHSCORES'),
      hash: (key) => admin.hgetall(key),
      stream: (key) => admin.xrange(key, '-', '+'),
    };
    const found: Record<string, unknown> = {};
    for (const key of await admin.keys(`${prefix}:*`)) {
      expect(await admin.ttl(key), `time to live of ${key}`).to.equal(-1);
      found[key.slice(prefix.length + 1)] = await read[await admin.type(key)]!(key);
    }
    return found;
  }

  it('is exactly what decision record 0003 and keys.ts describe, without the data of erased streams', async () => {
    const [first, ...others] = encoded(
      created(plantId('9007199254740993'), 'Büschelfarn', 'indoor'),
      created(-7, '"Moss"'),
      deleted(-7),
    );
    const head = { version: 3, commit: 'ü 2' };
    await opened.stream().append(BEGINNING, '1795209633123-51d07b3a88e4', [first!]);
    await opened
      .stream()
      .append({ version: 1, commit: '1795209633123-51d07b3a88e4' }, head.commit, others);
    await opened.snapshots.save(ALICE, { format: 'f-1', head, chunks: ['a', 'b'] });
    const position = { epoch: 'an epoch', sequence: 2 };
    const heads = new Map([[ALICE, head]]);
    await opened.checkpoints('tags').save({ bucket: 39, expectedRevision: 0, position, heads });
    const { id, '{39}:plants/alice:snapshot': snapshot, ...rest } = await content();
    expect(id).to.equal(`buckets-64 ${opened.status().id}`);
    expect(snapshot).to.include({
      format: 'f-1',
      version: '3',
      commit: 'ü 2',
      chunks: '2',
      0: 'a',
      1: 'b',
    });
    expect(snapshot)
      .to.have.property('checksum')
      .that.matches(/^[0-9a-f]{64}$/);
    const [lineage] = rest['{39}:index'] as string[];
    expect(lineage).to.match(/^[0-9a-f]{40}$/);
    const fern = '{"id":9007199254740993,"name":"Büschelfarn","tag":"indoor"}';
    const checkpoint = { '': '1 2 an epoch', 'plants/alice': '3 ü 2' };
    expect(rest).to.deep.equal({
      '{39}:index': [lineage, '0', 'plants/alice', '2'],
      '{39}:index:checkpoint:tags': checkpoint,
      '{39}:plants/alice:events': [
        ['1-0', ['type', 'PlantCreated', 'data', fern, 'commit', '1795209633123-51d07b3a88e4']],
        ['2-0', ['type', 'PlantCreated', 'data', '{"id":-7,"name":"\\"Moss\\""}', 'commit', 'ü 2']],
        ['3-0', ['type', 'PlantDeleted', 'data', '{"id":-7}', 'commit', 'ü 2']],
      ],
    });
    const unfinished = function* () {
      yield 'a';
      throw new Error('the writer ends');
    };
    await rejection(opened.snapshots.save(ALICE, { format: 'f-2', head, chunks: unfinished() }));
    expect(await redis.admin.exists(`${prefix}:{39}:plants/alice:snapshot:draft`)).to.equal(1);
    await opened.index.erase(ALICE);
    // The consumer needs the name to drop its data, and removes it.
    const { '{39}:index': left, ...remaining } = await content();
    expect(remaining).to.deep.equal({ id, '{39}:index:checkpoint:tags': checkpoint });
    const [erased, time, ...members] = left as string[];
    expect(members).to.deep.equal([lineage, '0', '', '3']);
    expect(erased).to.equal('/erased');
    expect(Number(time)).to.be.below(-1e12);
  });

  it('contains each stream in the bucket of its id, under a percent-encoded name', async () => {
    for (const [name, key] of Object.entries({
      'plants/auth0|5f7c {ö}': '{26}:plants/auth0%7C5f7c%20%7B%C3%B6%7D',
      'plants/urn:user/7': '{24}:plants/urn%3Auser%2F7',
      'gardens/alice': '{39}:gardens/alice',
    })) {
      await opened.store.append(streamName(name), BEGINNING, 'c', [FERN]);
      expect(Object.keys(await content()), name).to.include(`${key}:events`);
    }
    // The FNV-1a hash modulo 64, forever. The first two are published vectors: 0xe40c292c and
    // 0xbf9cf968.
    const ids = ['a', 'foobar', 'alice', '🌱'];
    expect(ids.map((id) => bucketOf(streamName(`plants/${id}`)))).to.deep.equal([44, 40, 39, 30]);
  });

  it('may contain foreign members in an index: each is reported once, and none blocks its bucket', async () => {
    await opened.append();
    const foreign = ['%61lice', 'plants%2Falice', 'a b', '%zz', 'bob', 'plants/'];
    for (const member of foreign) await redis.admin.zadd(`${prefix}:{39}:index`, 1, member);
    const changed = () => opened.index.changed(39, START, 10);
    for (const page of [await changed(), await changed()])
      expect(page).to.deep.include({
        changed: [{ stream: 'plants/alice', sequence: 1 }],
        more: false,
      });
    const reported = opened.log.flatMap(
      (line) => /lists "([^"]*)", which is not a stream/.exec(line)?.[1] ?? [],
    );
    expect(reported).to.have.members(foreign);
  });

  it('distinguishes a stream `erased` without a category from the erasures of its bucket', async () => {
    const [name, other] = [streamName('erased'), streamName('plants/erased')];
    const bucket = bucketOf(name);
    await opened.store.append(other, BEGINNING, 'c', [FERN]);
    await opened.store.append(name, BEGINNING, 'c', [FERN]);
    await opened.index.erase(other);
    expect(await opened.index.changed(bucket, START, 10)).to.deep.include({
      changed: [{ stream: name, sequence: 2 }],
    });
    await opened.store.append(name, { version: 1, commit: 'c' }, 'c 2', [FERN]);
    const known = { version: 1, commit: '1795209633123-51d07b3a88e4' };
    expect(await opened.index.wasErased!(other, known)).to.equal(true);
  });

  it('stays unchanged if an erasure fails', async () => {
    await opened.append();
    await redis.admin.set(new Keys(prefix).of(ALICE).events, 'no stream');
    const before = await content();
    expect(await rejection(opened.index.erase(ALICE))).to.include(REFUSED);
    expect(await content()).to.deep.equal(before);
  });

  describe('for a snapshot', () => {
    const MAX_BYTES = Math.floor(getHeapStatistics().heap_size_limit / 64);
    const keysOf = (user: string) => new Keys(prefix).of(plantStreamOf(user));
    let head: Head;
    beforeEach(async () => (head = await opened.stream().add(BEGINNING, FERN)));

    const save = (chunks: Iterable<string>) =>
      opened.snapshots.save(ALICE, { format: 'f', head, chunks });
    async function load() {
      const chunks: string[] = [];
      for await (const chunk of (await opened.snapshots.load(ALICE))!.chunks) chunks.push(chunk);
      return chunks;
    }

    const DAMAGES: Readonly<Record<string, (at: string) => Promise<unknown>>> = {
      'a byte of a chunk differs': (at) => redis.admin.hset(at, '1', 'B'),
      'a chunk is missing': (at) => redis.admin.hdel(at, '1'),
      'its last chunks are missing': (at) => redis.admin.hset(at, 'chunks', '1'),
      'its version differs': (at) => redis.admin.hset(at, 'version', '2'),
      'its commit differs': (at) => redis.admin.hset(at, 'commit', 'other'),
      'its format differs': (at) => redis.admin.hset(at, 'format', 'f-2'),
      'its checksum is missing': (at) => redis.admin.hdel(at, 'checksum'),
      'its chunks are divided differently': (at) => redis.admin.hset(at, { 0: 'a', 1: 'bb' }),
      'a chunk is too long': (at) => redis.admin.hset(at, '1', Buffer.alloc(MAX_BYTES + 1, 'x')),
      'it belongs to another stream': (at) => redis.admin.rename(keysOf('bob').snapshot, at),
    };
    it('is reported as broken if any part of it differs, and is not kept in memory', async () => {
      const ofBob = {
        format: 'f',
        head: await opened.stream('bob').add(BEGINNING, FERN),
        chunks: ['ab', 'b'],
      };
      await opened.snapshots.save(plantStreamOf('bob'), ofBob);
      for (const [what, damage] of Object.entries(DAMAGES)) {
        await save(['ab', 'b']);
        await damage(keysOf('alice').snapshot);
        const before = process.memoryUsage().arrayBuffers;
        expect(await rejection(load()), what).to.be.instanceOf(BrokenSnapshot);
        expect(process.memoryUsage().arrayBuffers - before, what).to.be.below(MAX_BYTES / 2);
      }
    });

    it('is unavailable, not broken, if it is replaced while it is read', async () => {
      await save(['a', 'b']);
      const reading = (await opened.snapshots.load(ALICE))!.chunks[Symbol.asyncIterator]();
      await reading.next();
      await save(['c', 'd']);
      expect(await rejection(reading.next())).to.be.instanceOf(StoreUnavailable);
    });

    it('contains at least one chunk, or is not saved', async () => {
      expect(await save([])).to.equal(false);
      expect(await redis.admin.exists(keysOf('alice').draft)).to.equal(0);
    });

    it('includes a draft that expires after its writer has failed, and no other is saved meanwhile', async () => {
      const failing = function* () {
        yield 'in part';
        throw new Error('the writer ends');
      };
      const { draft } = keysOf('alice');
      expect(String(await rejection(save(failing())))).to.equal('Error: the writer ends');
      expect(await save(['b'])).to.equal(false);
      expect(await redis.admin.pttl(draft)).to.be.within(1, 30_000);
      await redis.admin.pexpire(draft, 1);
      await until(() => save(['b']));
      expect(await load()).to.deep.equal(['b']);
    });
  });
});

describeRedis('The index of a store in Redis', (startRedis) => {
  const open = openedPerTest();
  const endOf = async ({ index }: Opened) => {
    const page = await index.changed(39, START, 10);
    return page.status === 'read' ? page.next : expect.fail(page.status);
  };

  for (const what of ['a restart', 'a failover'])
    it(`has a new epoch after ${what}, because that may have lost its last entries`, async () => {
      const [redis, replica] = await startReplicated(startRedis, ...DURABLE);
      const opened = await open({ url: redis.url });
      await opened.append();
      const position = await endOf(opened);
      expect((await opened.index.changed(39, position, 10)).status).to.equal('read');
      await until(async () => (await replica.admin.exists('plant-store:{39}:index')) === 1);
      if (what === 'a failover') await replica.admin.replicaof('NO', 'ONE');
      else await redis.kill9().then(() => redis.start());
      const other = await open({ url: what === 'a failover' ? replica.url : redis.url });
      expect((await other.index.changed(39, position, 10)).status).to.equal('reset');
      expect((await endOf(other)).sequence).to.equal(position.sequence);
    });

  it('confirms an erasure, even a repeated one, only when the replicas have it', async () => {
    const redis = await startRedis();
    const alone = await open({ url: redis.url });
    await alone.append();
    const waiting = await open({ url: redis.url, waitReplicas: 1, timeoutMs: 300 });
    const erase = () => waiting.index.erase(ALICE);
    for (let time = 0; time < 2; time++)
      expect(await rejection(erase())).to.be.instanceOf(OutcomeUnknown);
    expect(await alone.index.head(ALICE)).to.equal(undefined);
    const replica = await startRedis('--replicaof', ...redis.peer);
    await until(async () => (await erase().catch(() => -1)) === 0);
    expect(await replica.admin.keys('*alice*')).to.deep.equal([]);
  });
});
