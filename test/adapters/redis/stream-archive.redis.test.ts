import { expect } from 'chai';
import { randomUUID } from 'node:crypto';
import {
  BEGINNING,
  type Base,
  type Head,
  type StoredBase,
  type StreamName,
} from '../../../src/event-sourcing';
import { streamArchiveContract } from '../../../src/testing';
import { streamName } from '../../../src/testing/a-stream';
import { CONTRACT_OPTIONS, describeContract } from '../../contracts/event-store';
import { encoded, created } from '../../support/given';
import { describeRedis } from '../../support/redis';
import { openStore } from './open-store';
import { type KeyKind, streamKeyOf } from '../../support/keys';

/** Commits of one, two and three events, and one more. */
const COMMITS = [1, 2, 3, 1];

describeRedis('A stream in Redis whose first events are replaced by a base', (redis) => {
  describeContract(
    'RedisStreamArchive satisfies the contract of a stream archive',
    streamArchiveContract(() => openStore(redis.url, { keyPrefix: redis.prefix }), {
      ...CONTRACT_OPTIONS,
      durable: true,
      shared: true,
    }),
  );

  let opened: Awaited<ReturnType<typeof openStore>>;
  let alice: StreamName;
  /** The head after each event; the first is the beginning. */
  let heads: Head[];

  const keyOf = (name: string, kind: KeyKind) => streamKeyOf(streamName(name), redis.prefix, kind);
  const keys = async () =>
    (await redis.admin.keys(`${redis.prefix}:*:${alice}:*`)).map((key) => key.split(`${alice}:`)[1]).sort();
  const ids = async () => (await redis.admin.xrange(keyOf(alice, 'events'), '-', '+')).map(([id]) => id);

  before(async () => void (opened = await openStore(redis.url, { keyPrefix: redis.prefix })));
  after(() => opened.close());
  beforeEach(async () => {
    alice = streamName(`alice-${randomUUID()}`);
    heads = [BEGINNING];
    for (const [index, size] of COMMITS.entries()) {
      const events = Array.from({ length: size }, (_, id) => created(10 * index + id, 'Fern'));
      await opened.store.append(alice, heads.at(-1)!, `commit ${index}`, encoded(...events));
      const { version } = heads.at(-1)!;
      heads.push(...events.map((_, at) => ({ version: version + 1 + at, commit: `commit ${index}` })));
    }
  });

  const baseAt = (version: number, ...chunks: string[]): Base => ({
    format: 'f-1',
    head: heads[version]!,
    archive: `seal ${version}`,
    chunks,
  });
  const approve = async () => {};
  const save = (version: number, replaced = 0) =>
    opened.archive.saveBase(alice, baseAt(version, `state ${version}`), replaced, approve);
  const whole = async (stored: StoredBase | undefined) => {
    if (stored === undefined) return undefined;
    const chunks: string[] = [];
    for await (const chunk of stored.chunks) chunks.push(chunk);
    return { ...stored, chunks };
  };
  const base = async () => whole(await opened.snapshots.loadBase(alice));
  async function archive(version: number, replaced = 0) {
    expect(await save(version, replaced)).to.equal(true);
    while ((await opened.archive.trim(alice, heads[version]!)) !== 0) continue;
  }

  it('begins with the event of the base’s head', async () => {
    await archive(6);
    expect(await ids()).to.deep.equal(['6-0', '7-0']);
    expect(await base()).to.deep.equal(baseAt(6, 'state 6'));
    expect(await keys()).to.deep.equal(['base', 'events']);
    expect(await redis.admin.ttl(keyOf(alice, 'base'))).to.equal(-1);
  });

  it('loses a snapshot that is older than its base, and keeps a newer one', async () => {
    for (const [version, left] of [
      [3, undefined],
      [7, 7],
    ] as const) {
      await opened.snapshots.save(alice, { format: 'f-1', head: heads[version]!, chunks: ['a'] });
      await save(6, version === 7 ? 6 : 0);
      expect((await opened.snapshots.load(alice))?.head.version).to.equal(left);
    }
  });

  it('keeps its base if the draft of another one has expired', async () => {
    const saved = opened.archive.saveBase(alice, baseAt(6, 'a'), 0, async () => {
      await redis.admin.del(keyOf(alice, 'base:draft'));
    });
    expect(await saved).to.equal(false);
    expect(await keys()).to.deep.equal(['events']);
  });

  it('is not trimmed if its history is another one than that of the base', async () => {
    await save(6);
    const key = keyOf(alice, 'events');
    await redis.admin.del(key);
    for (let id = 1; id < 8; id++)
      await redis.admin.xadd(key, `${id}-0`, 'type', 'x', 'data', '', 'commit', 'y');
    expect(await opened.archive.trim(alice, heads[6]!)).to.equal(undefined);
    expect(await ids()).to.have.length(7);
  });

  describe('that does not have the event of its base’s head', () => {
    it('is reported by the catalogue while its key is missing', async () => {
      await archive(6);
      await redis.admin.del(keyOf(alice, 'events'));
      const found = [];
      for await (const one of opened.catalogue.streams())
        if ('foreign' in one && one.foreign.includes(alice)) found.push(one.foreign);
      expect(found).to.deep.equal([
        `key ${keyOf(alice, 'base')} is the base snapshot of a stream that is missing`,
      ]);
    });
  });

  it('is readable from its beginning while the events before its base are not yet removed', async () => {
    await save(6);
    expect((await opened.store.read(alice, BEGINNING)).status).to.equal('read');
    expect(
      (await opened.store.append(alice, BEGINNING, 'late', encoded(created(1, 'Moss')))).status,
    ).to.equal('conflict');
    const again = await opened.store.append(alice, BEGINNING, 'commit 0', encoded(created(0, 'Fern')));
    expect(again).to.deep.equal({ status: 'appended', head: heads[1] });
  });

  it('is erased with its base, while a new base is written, too', async () => {
    await archive(3);
    const saved = await opened.archive.saveBase(alice, baseAt(6, 'a'), 3, async () => {
      expect(await keys()).to.deep.equal(['base', 'base:draft', 'events']);
      await opened.catalogue.erase(alice);
    });
    expect(saved).to.equal(false);
    expect(await keys()).to.deep.equal([]);
  });

  it('is in the catalogue, and its base is not', async () => {
    await archive(6);
    const found = [];
    for await (const one of opened.catalogue.streams())
      if ('foreign' in one || one.stream === alice) found.push(one);
    expect(found).to.deep.equal([{ stream: alice, version: 7 }]);
  });
});
