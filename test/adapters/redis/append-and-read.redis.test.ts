import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { Keys } from '../../../src/adapters/redis';
import {
  BEGINNING,
  type EncodedEvent,
  StoreUnavailable,
  UnreadableHistory,
} from '../../../src/event-sourcing';
import type { Stream } from '../../../src/testing/a-stream';
import { describeOwnRedis, describeRedis } from '../../support/redis';
import { rejection } from '../../support/rejection';
import { until } from '../../support/until';
import { CALLS, FERN, type Opened, openedPerTest, OTHER } from './opened';

const event = (data = '{}', type = 'Noted'): EncodedEvent => ({ type, data });
const [a, b] = [event('a'), event('b')];

describeRedis('An append to Redis', (redis) => {
  const open = openedPerTest();
  let opened: Opened;
  let key: string;
  beforeEach(async () => {
    const keyPrefix = `${redis.prefix}-${randomUUID()}`;
    opened = await open({ url: redis.url, keyPrefix });
    key = new Keys(keyPrefix).of(opened.stream().name).events;
  });

  /** Id and data of all entries. */
  const stored = async () =>
    (await redis.admin.xrange(key, '-', '+')).map(([id, fields]) => `${id} ${fields[3]!}`);

  it('conflicts with a recorded one of the same commit id that has other events', async () => {
    for (const [what, theirs] of Object.entries({
      'other data': [a, event('c')],
      'another type': [a, event('b', 'Moved')],
      'fewer events': [a],
      'another order': [b, a],
    })) {
      const stream = opened.stream(what);
      await stream.append(BEGINNING, 'same', theirs);
      expect((await stream.append(BEGINNING, 'same', [a, b])).status, what).to.equal('conflict');
      expect(await stream.history(), what).to.have.length(theirs.length);
    }
    const stream = opened.stream('two commits');
    await stream.append(BEGINNING, 'same', [a]);
    await stream.append({ version: 1, commit: 'same' }, 'other', [b]);
    expect((await stream.append(BEGINNING, 'same', [a, b])).status).to.equal('conflict');
  });

  it('has exact versions above 1e14, which Lua prints as floating-point numbers', async () => {
    const version = 99_999_999_999_999;
    await redis.admin.xadd(key, `${version}-0`, 'type', 'Noted', 'data', '', 'commit', 'c');
    const head = await opened.stream().add({ version, commit: 'c' }, a, b);
    expect(head.version).to.equal(100_000_000_000_001);
    expect((await stored()).slice(1)).to.deep.equal(['100000000000000-0 a', '100000000000001-0 b']);
  });

  it('may have more events than Lua can unpack', async () => {
    const many = Array.from({ length: 10_000 }, (_, index) => event(String(index)));
    const head = await opened.stream().add(BEGINNING, ...many);
    expect(await opened.index.head(opened.stream().name)).to.deep.equal(head);
  });

  it('assigns no version of a deleted entry again, and writes nothing', async () => {
    const stream = opened.stream();
    const first = await stream.add(BEGINNING, a);
    await stream.add(first, b);
    await redis.admin.xdel(key, '2-0');
    const failure = await rejection(stream.append(first, 'ours', [b]));
    expect(failure).to.be.instanceOf(StoreUnavailable).and.to.have.property('reason', 'store_refused');
    expect(await stored()).to.deep.equal(['1-0 a']);
  });

  it('fails alone of the calls of one turn, and so does a read', async () => {
    await redis.admin.set(key, 'no stream');
    const streams = ['bob', 'alice', 'carol'].map((user) => opened.stream(user));
    for (const call of [
      (stream: Stream): Promise<unknown> => stream.append(BEGINNING, 'c', [a]),
      (stream: Stream) => stream.read(BEGINNING),
    ]) {
      const settled = await Promise.allSettled(streams.map((stream) => call(stream)));
      expect(settled.map(({ status }) => status)).to.deep.equal(['fulfilled', 'rejected', 'fulfilled']);
      expect(settled[1]).to.have.property('reason').that.is.instanceOf(StoreUnavailable);
    }
  });

  it('is repeated with the text of its script when Redis has forgotten it', async () => {
    const first = await opened.stream().add(BEGINNING, a);
    await redis.admin.script('FLUSH');
    await opened.stream().add(first, b);
    expect(await stored()).to.deep.equal(['1-0 a', '2-0 b']);
  });

  describe('A read', () => {
    /** Sizes of the pages. */
    async function pages(): Promise<number[]> {
      const sizes: number[] = [];
      for (let head = BEGINNING, more = true; more;) {
        const page = await opened.stream().read(head);
        if (page.status !== 'read') throw new Error(page.status);
        sizes.push(page.events.length);
        more = page.more;
        head = page.events.at(-1)!;
      }
      return sizes;
    }

    for (const [what, lengths, expected] of [
      ['64 events at first, and then 512', Array<number>(700).fill(1), [64, 512, 124]],
      ['as many events as fit into 512 KiB', Array<number>(30).fill(60_000), [8, 7, 7, 7, 1]],
      ['at least one event after the head, however large', [600_000, 1_200_000, 1], [2, 1]],
      ['a large event after small ones in the next page', [1, 1, 1, 600_000, 1], [3, 1, 1]],
    ] as const)
      it(`returns ${what}`, async () => {
        await opened.stream().add(BEGINNING, ...lengths.map((length) => event('x'.repeat(length))));
        expect(await pages()).to.deep.equal(expected);
      });

    it('returns at most 16 events with a conflict', async () => {
      await opened.stream().add(BEGINNING, ...Array.from({ length: 30 }, () => a));
      const result = await opened.stream().append(BEGINNING, 'other', [a]);
      expect(result).to.include({ status: 'conflict', more: true });
      expect(result).to.have.property('events').with.length(16);
    });

    const notUtf8 = Buffer.from('F\xc3', 'latin1');
    const fields = ['type', 'Noted', 'data', '{}', 'commit'];
    const FOREIGN: Readonly<Record<string, readonly (string | Buffer)[]>> = {
      'entry 4-0 found, expected version 3': ['4-0', ...fields, 'c'],
      'entry 3-1 found, expected version 3': ['3-1', ...fields, 'c'],
      'entry 3-0 does not have the fields type, data and commit': ['3-0', 'field', 'value'],
      'entry 3-0 does not have the fields': ['3-0', ...'data {} type Noted commit c'.split(' ')],
      'entry 3-0 does not have': ['3-0', ...fields, 'c', 'more', ''],
      'entry 3-0 is not UTF-8': ['3-0', 'type', notUtf8, ...fields.slice(2), 'c'],
      'entry 3-0 is not': ['3-0', ...fields, notUtf8],
    };
    for (const [message, [id, ...entry]] of Object.entries(FOREIGN))
      it(`refuses an entry ${[id, ...entry].join(' ')}, and so does a conflict`, async () => {
        const stream = opened.stream();
        const head = await stream.add(await stream.add(BEGINNING, a), b);
        await redis.admin.xadd(key, id!, ...entry);
        for (const call of [
          () => stream.read(BEGINNING),
          () => stream.read(head),
          () => stream.append(head, 'ours', [a]),
        ])
          expect(await rejection(call()))
            .to.be.instanceOf(UnreadableHistory)
            .with.property('message')
            .that.includes(message);
        expect(await redis.admin.xlen(key)).to.equal(3);
        expect((await opened.stream('bob').read(BEGINNING)).status).to.equal('read');
        // Once it is removed, the stream is served again.
        await redis.admin.xdel(key, String(id));
        expect(await stream.read(head)).to.deep.equal({ status: 'read', events: [], more: false });
      });
  });
});

describeOwnRedis('A Redis of a running store', (startRedis) => {
  const open = openedPerTest();
  const users = Array.from({ length: 100 }, (_, index) => `user ${index}`);
  const second = { version: 2, commit: 'second' };

  async function start() {
    const redis = await startRedis();
    const opened = await open({ url: redis.url });
    await opened.append();
    await opened.stream().append({ version: 1, commit: 'ours' }, second.commit, [OTHER]);
    return { ...opened, admin: redis.admin, url: redis.url };
  }

  it('that was demoted to a replica, and may be stale, is not believed: no call is answered', async () => {
    const { admin, url } = await start();
    const stores = await Promise.all(Object.keys(CALLS).map(() => open({ url, examineEveryMs: 600_000 })));
    // Of an unreachable primary, so that it keeps its data.
    await admin.replicaof('127.0.0.1', 1);
    for (const [index, [what, call]] of Object.entries(CALLS).entries())
      expect(await rejection(Promise.resolve(call(stores[index]!))), what)
        .to.be.instanceOf(StoreUnavailable)
        .and.to.have.property('message', 'Redis was made a replica');
    await admin.replicaof('NO', 'ONE');
    for (const { status, stream } of stores) {
      await until(() => status().reads);
      expect((await stream().history()).map(({ data }) => data)).to.deep.equal([FERN.data, OTHER.data]);
    }
  });

  it('executes the appends of one turn at once, and its reads too', async () => {
    const { admin, append, stream } = await start();
    await stream().read(BEGINNING);
    await admin.config('RESETSTAT');
    await Promise.all(users.map((user) => append(user)));
    await Promise.all(users.map((user) => stream(user).read(BEGINNING)));
    expect(await admin.info('commandstats'))
      .to.match(/cmdstat_evalsha:calls=2,/)
      .and.to.match(/cmdstat_xadd:calls=100,/);
  });

  it('serves lists, and is ready, beside a write that waits: an operator has paused writes', async () => {
    const { admin, check, stream } = await start();
    await admin.client('PAUSE', 60_000, 'WRITE');
    const written = stream().add(second, a);
    await until(async () => (await admin.info('clients')).includes('blocked_clients:1'));
    expect(await stream().history()).to.have.length(2);
    expect(await check()).to.deep.equal({ writes: true });
    await admin.client('UNPAUSE');
    expect((await written).version).to.equal(3);
  });
});
