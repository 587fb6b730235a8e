import { expect } from 'chai';
import { randomUUID } from 'node:crypto';
import {
  BEGINNING,
  BrokenSnapshot,
  type Head,
  type Snapshot,
  StoreUnavailable,
  type StreamName,
} from '../../../src/event-sourcing';
import { MAX_CHUNK_BYTES } from '../../../src/adapters/redis/snapshot-store';
import { streamName } from '../../../src/testing/a-stream';
import { snapshotStoreContract } from '../../../src/testing';
import { CONTRACT_OPTIONS, describeContract } from '../../contracts/event-store';
import { encoded, created } from '../../support/given';
import { describeRedis } from '../../support/redis';
import { rejection } from '../../support/rejection';
import { openStore } from './open-store';
import { type KeyKind, streamKeyOf } from '../../support/keys';

const TOO_LONG = Buffer.alloc(MAX_CHUNK_BYTES + 1, 'x');

describeRedis('A snapshot in Redis', (redis) => {
  describeContract(
    'RedisSnapshotStore satisfies the contract of a snapshot store',
    snapshotStoreContract(() => openStore(redis.url, { keyPrefix: redis.prefix }), {
      ...CONTRACT_OPTIONS,
      durable: true,
      shared: true,
      damage: async (stream) => {
        await redis.admin.hdel(streamKeyOf(stream, redis.prefix, 'snapshot'), '1');
      },
    }),
  );

  let opened: Awaited<ReturnType<typeof openStore>>;
  let alice: StreamName;
  let head: Head;

  const keyOf = (name: string, kind: KeyKind) => streamKeyOf(streamName(name), redis.prefix, kind);
  const keys = async () =>
    (await redis.admin.keys(`${redis.prefix}:*:${alice}:*`)).map((key) => key.split(':').at(-1));

  before(async () => void (opened = await openStore(redis.url, { keyPrefix: redis.prefix })));
  after(() => opened.close());
  beforeEach(async () => {
    alice = streamName(`alice-${randomUUID()}`);
    head = await append(alice, BEGINNING);
  });

  async function append(stream: StreamName, after: Head): Promise<Head> {
    const result = await opened.store.append(
      stream,
      after,
      randomUUID(),
      encoded(created(after.version, 'Fern')),
    );
    if (result.status !== 'appended') throw new Error(result.status);
    return result.head;
  }

  const snapshot = (...chunks: string[]): Snapshot => ({ format: 'f-1', head, chunks });
  const save = (...chunks: string[]) => opened.snapshots.save(alice, snapshot(...chunks));

  async function load(stream = alice) {
    const loaded = await opened.snapshots.load(stream);
    if (loaded === undefined) return undefined;
    const chunks: string[] = [];
    for await (const chunk of loaded.chunks) chunks.push(chunk);
    const { format, head } = loaded;
    return { format, head, chunks };
  }

  it('is one key beside the stream, which never expires', async () => {
    await save('a', 'b');
    expect(await keys()).to.have.members(['events', 'snapshot']);
    expect(await redis.admin.ttl(keyOf(alice, 'snapshot'))).to.equal(-1);
  });

  /** A save that ends after its first chunk, as with its process. */
  async function saveInPart(): Promise<void> {
    const chunks = function* () {
      yield 'in part';
      throw new Error('the writer ends');
    };
    const ended = await rejection(opened.snapshots.save(alice, { ...snapshot(), chunks: chunks() }));
    expect(ended).to.have.property('message', 'the writer ends');
  }

  it('is unavailable, not broken, if it is replaced while it is read', async () => {
    await save('a', 'b');
    const { chunks } = (await opened.snapshots.load(alice))!;
    const reading = chunks[Symbol.asyncIterator]();
    await reading.next();
    await save('c', 'd');
    expect(await rejection(reading.next())).to.be.instanceOf(StoreUnavailable);
  });

  describe('is broken', () => {
    const damages: Record<string, (key: string) => Promise<unknown>> = {
      'if a byte of a chunk differs': (key) => redis.admin.hset(key, '1', 'B'),
      'if a chunk is not UTF-8': (key) => redis.admin.hset(key, '1', Buffer.from([0xff])),
      'if a chunk is missing': (key) => redis.admin.hdel(key, '1'),
      'if its last chunks are missing': (key) => redis.admin.hset(key, 'chunks', '1'),
      'if its number of chunks is missing': (key) => redis.admin.hdel(key, 'chunks'),
      'if its version differs': (key) => redis.admin.hset(key, 'version', '2'),
      'if its commit differs': (key) => redis.admin.hset(key, 'commit', 'other'),
      'if its format differs': (key) => redis.admin.hset(key, 'format', 'f-2'),
      'if a chunk is longer than the heap allows': (key) => redis.admin.hset(key, '1', TOO_LONG),
      'if its format is longer than the heap allows': (key) => redis.admin.hset(key, 'format', TOO_LONG),
      'if its checksum is missing': (key) => redis.admin.hdel(key, 'checksum'),
    };
    for (const [which, damage] of Object.entries(damages)) {
      it(which, async () => {
        await save('a', 'b');
        await damage(keyOf(alice, 'snapshot'));
        expect(await rejection(load())).to.be.instanceOf(BrokenSnapshot);
      });
    }

    it('without its chunk in the memory of the process, if that is too long', async () => {
      await save('a', 'b');
      await redis.admin.hset(keyOf(alice, 'snapshot'), '1', TOO_LONG);
      const before = process.memoryUsage().arrayBuffers;
      expect(await rejection(load()))
        .to.have.property('message')
        .that.matches(/^its field 1 has \d+ bytes/);
      expect(process.memoryUsage().arrayBuffers - before).to.be.below(MAX_CHUNK_BYTES / 2);
    });

    it('if it is that of another stream', async () => {
      await save('a');
      const bob = streamName(`bob-${randomUUID()}`);
      await redis.admin.rename(keyOf(alice, 'snapshot'), keyOf(bob, 'snapshot'));
      expect(await rejection(load(bob))).to.be.instanceOf(BrokenSnapshot);
    });

    it('if chunks are divided in another way', async () => {
      await save('ab', 'c');
      await redis.admin.hset(keyOf(alice, 'snapshot'), { 0: 'a', 1: 'bc' });
      expect(await rejection(load())).to.be.instanceOf(BrokenSnapshot);
    });
  });

  describe('is not saved', () => {
    /** Saves two chunks, and does this before the second one is written. */
    function saveWhile(meanwhile: () => unknown): Promise<boolean> {
      const chunks = function* () {
        yield 'ours';
        meanwhile();
        yield 'ours, too';
      };
      return opened.snapshots.save(alice, { ...snapshot(), chunks: chunks() });
    }

    it('if the stream does not have its head, and leaves no key behind', async () => {
      head = { ...head, commit: 'lost' };
      expect(await save('a')).to.equal(false);
      expect(await keys()).to.deep.equal(['events']);
    });

    it('if the stream is erased meanwhile, and leaves no key behind', async () => {
      await save('before');
      let erased: Promise<number> | undefined;
      expect(await saveWhile(() => (erased = opened.catalogue.erase(alice)))).to.equal(false);
      expect(await erased).to.equal(1);
      expect(await keys()).to.deep.equal([]);
    });

    it('by a writer whose draft has expired', async () => {
      let other: Promise<unknown> | undefined;
      // On the connection of both writers, so that it is executed before their next steps.
      const { client } = opened.connection;
      const expired = () =>
        (other = Promise.all([client.del(keyOf(alice, 'snapshot:draft')), save('theirs')]));
      expect(await saveWhile(() => void expired())).to.equal(false);
      await other;
      expect(await load()).to.deep.equal(snapshot('theirs'));
    });

    it('for ever by a writer that ended', async () => {
      await saveInPart();
      expect(await save('b')).to.equal(false);
      expect(await redis.admin.pttl(keyOf(alice, 'snapshot:draft'))).to.be.within(1, 30_000);
      await redis.admin.pexpire(keyOf(alice, 'snapshot:draft'), 1);
      while ((await keys()).includes('draft')) continue;
      expect(await save('b')).to.equal(true);
    });
  });

  it('is no stream of the catalogue, and no foreign key', async () => {
    await save('a');
    await redis.admin.hset(keyOf(alice, 'snapshot:draft'), '0', 'a');
    const found = [];
    for await (const one of opened.catalogue.streams()) found.push(one);
    expect(found.filter((one) => 'foreign' in one)).to.deep.equal([]);
    expect(found.filter((one) => 'stream' in one && one.stream === alice)).to.deep.equal([
      { stream: alice, version: 1 },
    ]);
  });
});
