import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { Keys } from '../../../src/adapters/redis';
import { BEGINNING, type EncodedEvent } from '../../../src/event-sourcing';
import type { Stream } from '../../../src/testing/streams';
import { describeRedis, describeSharedRedis } from '../../support/redis';
import { rejection } from '../../support/rejection';
import { succeeds, until } from '../../support/until';
import { CALLS, fill, type Opened, openedPerTest, REFUSED } from './opened';

const REPLICA = { name: 'StoreUnavailable', message: 'Redis was made a replica' };
const event = (data = '{}', type = 'Noted'): EncodedEvent => ({ type, data });
const [a, b] = [event('a'), event('b')];

describeSharedRedis('A stream in Redis', (redis) => {
  const open = openedPerTest();
  let opened: Opened;
  let stream: Stream;
  let key: string;
  let index: string;
  beforeEach(async () => {
    const keyPrefix = `${redis.prefix}-${randomUUID()}`;
    opened = await open({ url: redis.url, keyPrefix });
    stream = opened.stream();
    ({ events: key, index } = new Keys(keyPrefix).of(stream.name));
  });

  it('is read in shorter pages if many streams are read at once, and still as a whole', async () => {
    const streams = Array.from({ length: 40 }, (_, at) => opened.stream(`user-${at}`));
    const events = Array.from({ length: 8 }, () => event(JSON.stringify('x'.repeat(60_000))));
    for (const each of streams) await each.add(BEGINNING, ...events);
    const pages = await Promise.all(streams.map((each) => each.read(BEGINNING)));
    const counts = pages.map((page) => (page.status === 'read' ? page.events.length : 0));
    expect(Math.min(...counts)).to.equal(1);
    expect(Math.max(...counts)).to.equal(8);
    expect(counts.reduce((sum, count) => sum + count)).to.be.below(120);
    for (const each of streams) expect(await each.history()).to.have.length(8);
  });

  /** Id and data of all entries. */
  const stored = async () =>
    (await redis.admin.xrange(key, '-', '+')).map(([id, fields]) => `${id} ${fields[3]!}`);

  it('has exact versions above 1e14, which Lua would print as floating-point numbers', async () => {
    const version = 99_999_999_999_999;
    await redis.admin.xadd(key, `${version}-0`, 'type', 'Noted', 'data', '', 'commit', 'c');
    const head = await stream.add({ version, commit: 'c' }, a, b);
    expect(head.version).to.equal(100_000_000_000_001);
    expect((await stored()).slice(1)).to.deep.equal(['100000000000000-0 a', '100000000000001-0 b']);
  });

  it('accepts an append of more events than Lua can unpack', async () => {
    const head = await stream.add(BEGINNING, ...Array.from({ length: 10_000 }, () => a));
    expect(await opened.index.head(stream.name)).to.deep.equal(head);
  });

  it('refuses an append that would assign the version of a deleted entry again, and writes nothing', async () => {
    const first = await stream.add(BEGINNING, a);
    await stream.add(first, b);
    await redis.admin.xdel(key, '2-0');
    expect(await rejection(stream.append(first, 'ours', [b]))).to.include(REFUSED);
    expect(await stored()).to.deep.equal(['1-0 a']);
  });

  it('gets no event if its index cannot be written', async () => {
    await redis.admin.set(index, 'no sorted set');
    expect(await rejection(stream.add(BEGINNING, a))).to.include(REFUSED);
    expect(await stored()).to.deep.equal([]);
  });

  it('does not fail the calls for other streams of the same turn if its own append or read fails', async () => {
    await redis.admin.set(key, 'no stream');
    for (const call of [
      (each: Stream) => each.add(BEGINNING, a),
      (each: Stream) => each.read(BEGINNING),
    ]) {
      const calls = ['bob', 'alice', 'carol'].map((user) => succeeds(call(opened.stream(user))));
      expect(await Promise.all(calls)).to.deep.equal([true, false, true]);
    }
  });

  describe('that is read', () => {
    /** Sizes of the pages. */
    async function pages(): Promise<number[]> {
      const sizes: number[] = [];
      for (let head = BEGINNING, more = true; more;) {
        const page = await stream.read(head);
        if (page.status !== 'read') throw new Error(page.status);
        sizes.push(page.events.length);
        more = page.more;
        head = page.events.at(-1)!;
      }
      return sizes;
    }

    for (const [what, lengths, expected] of [
      [
        '64 events in the first page, and 512 in later ones',
        Array<number>(700).fill(1),
        [64, 512, 124],
      ],
      ['as many events as fit into 512 KiB', Array<number>(30).fill(60_000), [8, 8, 8, 6]],
      ['each larger event in a page of its own', [600_000, 1_200_000, 1], [1, 1, 1]],
      ['a large event that follows small ones in the next page', [1, 1, 1, 600_000, 1], [3, 1, 1]],
    ] as const)
      it(`returns ${what}`, async () => {
        await stream.add(BEGINNING, ...lengths.map((length) => event('x'.repeat(length))));
        expect(await pages()).to.deep.equal(expected);
      });

    it('returns at most 16 events with a conflict', async () => {
      await stream.add(BEGINNING, ...Array.from({ length: 30 }, () => a));
      const result = await stream.append(BEGINNING, 'other', [a]);
      expect(result).to.include({ status: 'conflict', more: true });
      expect(result).to.have.property('events').with.length(16);
    });

    const notUtf8 = Buffer.from('F\xc3', 'latin1');
    const fields = ['type', 'Noted', 'data', '{}', 'commit'];
    const FOREIGN: Readonly<Record<string, readonly [id: string, ...(string | Buffer)[]]>> = {
      'entry 4-0 found, expected version 3': ['4-0', ...fields, 'c'],
      'entry 3-1 found, expected version 3': ['3-1', ...fields, 'c'],
      'entry 3-0 does not have the fields type, data and commit': ['3-0', 'field', 'value'],
      'entry 3-0 does not have the fields': ['3-0', ...'data {} type Noted commit c'.split(' ')],
      'entry 3-0 does not have': ['3-0', ...fields, 'c', 'more', ''],
      'entry 3-0 is not UTF-8': ['3-0', 'type', notUtf8, ...fields.slice(2), 'c'],
      'entry 3-0 is not': ['3-0', ...fields, notUtf8],
    };
    for (const [message, [id, ...entry]] of Object.entries(FOREIGN))
      it(`reports the invalid entry ${[id, ...entry].join(' ')}, and so does a conflict`, async () => {
        const head = await stream.add(await stream.add(BEGINNING, a), b);
        await redis.admin.xadd(key, id, ...entry);
        const calls = [stream.read(BEGINNING), stream.read(head), stream.append(head, 'ours', [a])];
        for (const error of await Promise.all(calls.map(rejection)))
          expect(String(error)).to.include(`UnreadableHistory: ${message}`);
        expect((await opened.stream('bob').read(BEGINNING)).status).to.equal('read');
        // Once it is removed, the stream is served again.
        expect(await redis.admin.xdel(key, id)).to.equal(1);
        expect(await stream.read(head)).to.deep.equal({ status: 'read', events: [], more: false });
      });
  });
});

describeRedis('A Redis of a running store', (startRedis) => {
  const open = openedPerTest();

  async function start() {
    const { admin, url } = await startRedis();
    const opened = await open({ url });
    await fill(opened);
    return { ...opened, admin, url };
  }

  for (const isReadOnly of ['yes', 'no'])
    it(`that was demoted to a replica is refused because it may be stale (read-only: ${isReadOnly})`, async () => {
      const { admin, url } = await start();
      await admin.config('SET', 'replica-read-only', isReadOnly);
      const stores = await Promise.all(
        Object.keys(CALLS).map(() => open({ url, examineEveryMs: 600_000 })),
      );
      // The new primary is unreachable, so the replica keeps its data.
      await admin.replicaof('127.0.0.1', 1);
      for (const [index, [what, call]] of Object.entries(CALLS).entries()) {
        const { status } = stores[index]!;
        expect(await rejection(call(stores[index]!)), what).to.include(REPLICA);
        // What one connection learns of its server, the other one knows.
        expect([status().reads, status().writes], what).to.deep.equal([false, false]);
      }
      await admin.replicaof('NO', 'ONE');
      for (const { status, stream } of stores) {
        await until(() => status().reads);
        expect(await stream().history()).to.have.length(2);
      }
      expect(await admin.keys('*alice:snapshot')).to.deep.equal([]);
    });

  it('serves lists and is ready while a write waits because an operator has paused writes', async () => {
    const { admin, check, checkpoints, snapshots, stream } = await start();
    await admin.client('PAUSE', 60_000, 'WRITE');
    const head = { version: 2, commit: 'second' };
    const written = stream().add(head, a);
    const saved = snapshots.save(stream().name, { format: 'f', head, chunks: ['a'] });
    const heads = new Map([[stream().name, head]]);
    const moved = checkpoints('tags').save({ bucket: 39, expectedRevision: 0, heads });
    await until(async () => /blocked_clients:[1-9]/.test(await admin.info('clients')));
    expect(await stream().history()).to.have.length(2);
    expect(await check()).to.deep.equal({ writes: true });
    await admin.client('UNPAUSE');
    await moved;
    expect([(await written).version, await saved]).to.deep.equal([3, true]);
  });
});
