import { EventEmitter, once } from 'node:events';
import type { ServerResponse } from 'node:http';
import type { Readable } from 'node:stream';
import { setImmediate as turn } from 'node:timers/promises';
import { expect } from 'chai';
import type { LongListReader } from '../../../../src/adapters/http/lists/long-list-reader';
import { type LongList, LongLists } from '../../../../src/adapters/http/lists/long-lists';
import { PIECE_LENGTH, SegmentTexts } from '../../../../src/adapters/http/lists/segment-texts';
import { Overloaded } from '../../../../src/adapters/http/app/problems';
import { TransferMemory } from '../../../../src/adapters/http/app/transfer-memory';
import type { User } from '../../../../src/application';
import { PlantList } from '../../../../src/domain';
import { created } from '../../../support/given';
import { rejection } from '../../../support/rejection';
import { keptOf } from '../many-users';

const [ADA, BOB] = ['ada', 'bob'] as User[] as [User, User];
const FOR_EVER_MS = 2 ** 30;
const PLANTS = PlantList.from(Array.from({ length: 100_000 }, (_, id) => created(id, `Fern ${id}`)));
const TEXT = JSON.stringify(PLANTS.page().plants);

/** What long lists use of a response. */
class FakeResponse extends EventEmitter {
  destroyed = false;

  destroy(): void {
    this.destroyed = true;
    this.emit('close');
  }
}

describe('Long lists', () => {
  let memory: TransferMemory;
  let lists: LongLists;
  let segments: SegmentTexts;

  beforeEach(() => start(2 ** 30));

  function start(maxBytes: number, maxCached?: number): void {
    memory = new TransferMemory(maxBytes, 1);
    segments = new SegmentTexts();
    lists = new LongLists(segments, memory, maxCached);
  }

  function listOf(user: User, key = 'all'): LongList {
    const head = { version: 1, commit: 'c' };
    const page = { key: `${key} ${user}`, head, etag: '"1-c"', next: undefined };
    return lists.find(page.key, head) ?? lists.add(user, page, PLANTS.page().ranges);
  }

  function open(user: User, response = new FakeResponse(), key = 'all'): LongListReader {
    return listOf(user, key).open(response as unknown as ServerResponse);
  }

  async function textOf(reader: LongListReader): Promise<string> {
    const length = await reader.length(FOR_EVER_MS);
    const body = reader.body();
    const chunks: Buffer[] = [];
    if (Buffer.isBuffer(body)) chunks.push(body);
    else for await (const chunk of body as AsyncIterable<Buffer>) chunks.push(chunk);
    const text = Buffer.concat(chunks);
    expect(text.length).to.equal(length);
    return text.toString();
  }

  it('are sent whole to each of many readers, which share their pieces', async () => {
    const readers = Array.from({ length: 5 }, () => open(ADA));
    for (const text of await Promise.all(readers.map(textOf))) expect(text).to.equal(TEXT);
    const list = listOf(ADA);
    expect(list.pieces.isComplete).to.equal(true);
    expect(list.pieces.at(0, { range: 0 })).to.equal(list.pieces.at(0, { range: 0 }));
    expect(lists.bytes).to.equal(TEXT.length);
  });

  it('are one buffer for the readers that come after a first one has read the list to its end', async () => {
    const first = new FakeResponse();
    await textOf(open(ADA, first));
    first.destroy();
    const [one, other] = [open(ADA), open(ADA)].map((reader) => reader.body());
    expect(one).to.be.instanceOf(Buffer).and.to.equal(other);
    expect((one as Buffer).toString()).to.equal(TEXT);
  });

  it('are cached without their plants after the last reader, the latest one of each user', async () => {
    for (const key of ['first', 'second']) {
      const response = new FakeResponse();
      expect(await textOf(open(ADA, response, key))).to.equal(TEXT);
      response.destroy();
    }
    expect([memory.bytes, memory.transfers, lists.bytes]).to.deep.equal([0, 0, TEXT.length]);
    expect(lists.find('first ada', { version: 1, commit: 'c' })).to.equal(undefined);
    const again = open(ADA, new FakeResponse(), 'second');
    // Memory of the response alone.
    expect(memory.bytes).to.equal(16 * 1024);
    expect(await textOf(again)).to.equal(TEXT);
  });

  it('are cached within a bound, the least recently requested one is dropped first, and none that exceeds half of it', async () => {
    const users = ['first', 'second', 'third'] as User[];
    for (const [bound, cached] of [
      [2 * TEXT.length, ['first', 'third']],
      [2 * TEXT.length - 1, []],
    ] as const) {
      start(2 ** 30, bound);
      for (const user of users) {
        if (user === 'third') lists.find('all first', { version: 1, commit: 'c' });
        const response = new FakeResponse();
        await textOf(open(user, response));
        response.destroy();
      }
      const found = users.filter((user) => lists.find(`all ${user}`, { version: 1, commit: 'c' }));
      expect(found).to.deep.equal(cached);
      expect(lists.bytes).to.equal(cached.length * TEXT.length);
    }
  });

  it('are found at their latest head, also after an earlier one was sent', () => {
    const [earlier, latest] = [1, 2].map((version) => {
      const head = { version, commit: 'c' };
      return lists.add(
        ADA,
        { key: 'ada', head, etag: `"${version}-c"`, next: undefined },
        PLANTS.page().ranges,
      );
    });
    const [first, second] = [new FakeResponse(), new FakeResponse()];
    earlier!.open(first as unknown as ServerResponse);
    latest!.open(second as unknown as ServerResponse);
    first.destroy();
    expect(lists.find('ada', latest!.page.head)).to.equal(latest);
  });

  it('stay readable if they are dropped from the cache while they are sent', async () => {
    const response = new FakeResponse();
    await textOf(open(ADA, response, 'first'));
    response.destroy();
    const again = open(ADA, new FakeResponse(), 'first');
    await open(ADA, new FakeResponse(), 'second').length(FOR_EVER_MS);
    expect(await textOf(again)).to.equal(TEXT);
  });

  it('stay in pieces if they have more than 4 MiB', async () => {
    const long = PlantList.from(
      Array.from({ length: 4400 }, (_, id) => created(id, 'x'.repeat(1000))),
    ).page();
    const page = { key: 'ada', head: { version: 1, commit: 'c' }, etag: '"1-c"', next: undefined };
    const list = lists.add(ADA, page, long.ranges);
    const response = new FakeResponse();
    const text = JSON.stringify(long.plants);
    expect(await textOf(list.open(response as unknown as ServerResponse))).to.equal(text);
    response.destroy();
    const again = list.open(new FakeResponse() as unknown as ServerResponse);
    expect(again.body()).not.to.be.instanceOf(Buffer);
    expect(await textOf(list.open(new FakeResponse() as unknown as ServerResponse))).to.equal(text);
  });

  for (const characters of [1, 500])
    it(`are measured exactly after any other part of them (names of ${characters} characters)`, async () => {
      const plants = PlantList.from(
        Array.from({ length: 200 }, (_, id) => created(id, 'ü'.repeat(characters))),
      );
      for (const [limit, after] of [
        [62, 1],
        [10, 120],
        [Infinity, 0],
        [62, 1],
        [Infinity, 0],
        [64, 0],
      ] as const) {
        const { ranges, plants: selected } = plants.page(limit, after);
        const page = { key: 'ada', head: { version: 1, commit: 'c' }, etag: '"1-c"', next: undefined };
        const response = new FakeResponse();
        const reader = lists.add(ADA, page, ranges).open(response as unknown as ServerResponse);
        const due = Buffer.byteLength(JSON.stringify(selected));
        expect(await reader.length(FOR_EVER_MS), `${limit} after ${after}`).to.equal(due);
        response.destroy();
        expect(memory.bytes).to.equal(0);
      }
    });

  it('fail alone if one of them cannot be measured or rendered', async () => {
    const { measure } = segments;
    segments.measure = () => {
      throw new Error('a bug');
    };
    expect(await rejection(open(ADA).length(FOR_EVER_MS))).to.have.property('message', 'a bug');
    segments.measure = measure;

    const reader = open(BOB);
    await reader.length(FOR_EVER_MS);
    const stream = reader.body() as Readable;
    segments.some = () => {
      throw new Error('another bug');
    };
    listOf(BOB).pieces.drop();
    expect(await rejection(once(stream.resume(), 'end'))).to.have.property('message', 'another bug');
  });

  it('go on while a newer list of their user is cached', async () => {
    const [first, second] = [open(ADA, new FakeResponse(), 'first'), open(ADA, new FakeResponse(), 'second')];
    await first.length(FOR_EVER_MS);
    await second.length(FOR_EVER_MS);
    const before = memory.bytes;
    let most = 0;
    let text = '';
    for await (const piece of first.body() as AsyncIterable<Buffer>) {
      text += piece.toString();
      most = Math.max(most, memory.bytes);
    }
    expect(text).to.equal(TEXT);
    // Two pieces, which are not cached and so are short.
    expect(most - before).to.be.below(2.1 * PIECE_LENGTH);
    expect(lists.find('first ada', { version: 1, commit: 'c' }), 'shared while it is sent').not.to.equal(
      undefined,
    );
    expect(await textOf(second)).to.equal(TEXT);
  });

  it('let users take turns, piece by piece, however many lists one user has', async () => {
    const many = Array.from({ length: 20 }, (_, index) => open(ADA, new FakeResponse(), String(index)));
    const one = open(BOB);
    await Promise.all([...many, one].map((reader) => reader.length(FOR_EVER_MS)));
    let others = 0;
    for (const reader of many) (reader.body() as Readable).on('data', () => others++);
    let pieces = 0;
    await once(
      (one.body() as Readable).on('data', () => pieces++),
      'end',
    );
    expect(pieces).to.be.above(1);
    expect(others).to.be.within(pieces - 2, pieces + 2);
  });

  it('leave no work and no memory if their readers disconnect', async () => {
    const [first, second] = [new FakeResponse(), new FakeResponse()];
    const lengths = [open(ADA, first), open(ADA, second)].map((reader) => reader.length(FOR_EVER_MS));
    first.destroy();
    expect(lists.turns.waiting).to.equal(1);
    second.destroy();
    expect([lists.turns.waiting, memory.bytes, memory.transfers]).to.deep.equal([0, 0, 0]);
    for (const length of lengths) expect(await rejection(length)).to.be.instanceOf(Error);

    const third = new FakeResponse();
    const reader = open(ADA, third);
    await reader.length(FOR_EVER_MS);
    const stream = (reader.body() as Readable).resume();
    await turn();
    third.destroy();
    stream.destroy();
    await turn();
    expect([lists.turns.waiting, memory.bytes, lists.bytes]).to.deep.equal([0, 0, 0]);
  });

  it('leave nothing of users whose readers disconnect', async () => {
    const { ranges } = PlantList.from([created(1, 'Fern')]).page();
    const head = { version: 1, commit: 'c' };
    const disconnect = (user: User) => {
      const response = new FakeResponse();
      const list = lists.add(user, { key: user, head, etag: '"1-c"', next: undefined }, ranges);
      const reader = list.open(response as unknown as ServerResponse);
      reader.length(FOR_EVER_MS).catch(() => {});
      response.destroy();
    };
    disconnect(ADA);
    expect(await keptOf(disconnect)).to.be.below(1_000_000);
  });

  it('are refused if they are not measured in time', async () => {
    const others = Array.from({ length: 20 }, (_, index) => open(ADA, new FakeResponse(), String(index)));
    others.forEach((reader) => void reader.length(FOR_EVER_MS));
    expect(await rejection(open(ADA).length(0))).to.be.instanceOf(Overloaded);
  });

  it('are refused if one user requests more than 32 different ones, regardless of other users', () => {
    const responses = Array.from({ length: 32 }, () => new FakeResponse());
    responses.forEach((response, index) => open(ADA, response, String(index)));
    expect(() => open(ADA, new FakeResponse(), 'more')).to.throw(Overloaded);
    open(ADA, new FakeResponse(), '5');
    open(BOB);
    responses[0]!.destroy();
    open(ADA, new FakeResponse(), 'more');
    expect(() => open(ADA, new FakeResponse(), 'another')).to.throw(Overloaded);
  });

  it('beyond the bound of memory are refused, and not reset, if they have not begun', async () => {
    start(150_000);
    const response = new FakeResponse();
    const first = open(ADA, response, 'first');
    open(ADA, new FakeResponse(), 'second');
    expect(response.destroyed).to.equal(false);
    response.emit('close');
    expect(await rejection(first.length(FOR_EVER_MS))).to.be.instanceOf(Overloaded);
    expect(() => first.body()).to.throw(Overloaded);
  });

  it('beyond the bound of memory are refused, or their connections are reset, the oldest of the user with the most first', async () => {
    start(35_000_000);
    const [bobs, old] = [new FakeResponse(), new FakeResponse()];
    const bob = open(BOB, bobs);
    await bob.length(FOR_EVER_MS);
    bob.body();
    const ada = open(ADA, old);
    await ada.length(FOR_EVER_MS);
    ada.body();

    expect(memory.bytes).to.be.below(35_000_000);
    const measured = open(ADA, new FakeResponse(), 'other');
    for (let index = 0; index < 30; index++) open(ADA, new FakeResponse(), String(index));
    expect([bobs.destroyed, old.destroyed]).to.deep.equal([false, true]);
    expect(await rejection(measured.length(FOR_EVER_MS))).to.be.instanceOf(Overloaded);
    expect(memory.bytes).to.be.at.most(35_000_000);
  });

  it('are counted with the pieces that their readers hold, which they share', async () => {
    const responses = [new FakeResponse(), new FakeResponse()];
    const readers = responses.map((response) => open(ADA, response));
    await Promise.all(readers.map((reader) => reader.length(FOR_EVER_MS)));
    const before = memory.bytes;
    const [first, second] = readers.map((reader) => reader.body() as Readable);
    first!.once('data', () => first!.pause());
    await once(first!, 'pause');
    const { length } = listOf(ADA).pieces.at(0, { range: 0 }).text;
    expect(length).to.be.above(PIECE_LENGTH);
    expect(memory.bytes).to.equal(before + length);
    await once(second!.resume(), 'end');
    expect(memory.bytes).to.equal(before + TEXT.length);
    responses.forEach((response) => response.destroy());
    expect(memory.bytes).to.equal(0);
  });

  it('are sent without a stream if they have one piece', async () => {
    const short = PlantList.from(Array.from({ length: 10_000 }, (_, id) => created(id, `Fern ${id}`))).page();
    const page = { key: 'ada', head: { version: 1, commit: 'c' }, etag: '"1-c"', next: undefined };
    const response = new FakeResponse();
    const reader = lists.add(ADA, page, short.ranges).open(response as unknown as ServerResponse);
    await reader.length(FOR_EVER_MS);
    const before = memory.bytes;
    const body = reader.body() as Buffer;
    expect(String(body)).to.equal(JSON.stringify(short.plants));
    expect(memory.bytes).to.equal(before + body.length);
    response.destroy();
    expect(memory.bytes).to.equal(0);
  });
});
