import { streamName } from '../../../src/testing/a-stream';
import type { PlantEvent } from '../../../src/domain';
import { expect } from 'chai';
import { setTimeout as pause } from 'node:timers/promises';
import { PackedEntries } from '../../../src/adapters/redis/entry';
import { RedisEventStore } from '../../../src/adapters/redis/event-store';
import { APPEND, executeScript } from '../../../src/adapters/redis/scripts';
import { NO_LEASE } from '../../../src/adapters/redis/server-checks';
import { plantCodec } from '../../../src/application';
import { type PlantStore, parseUser } from '../../../src/application';
import { BEGINNING, type Head, OutcomeUnknown, StoreUnavailable } from '../../../src/event-sourcing';
import { created, ferns, newPlantOf } from '../../support/given';
import { type RedisServer, describeOwnRedis } from '../../support/redis';
import { TcpProxy } from '../../support/tcp-proxy';
import { openStore, plantsOver } from './open-store';

const ALICE = parseUser('alice')!;
const KEY = 'plant-store:{alice}:events';
const KEYS = [KEY, 'plant-store:{alice}:base'];
const WHOLE = { limit: Infinity, after: 0 };

const [fern, moss, ivy] = [created(1, 'Fern'), created(2, 'Moss'), created(3, 'Ivy')] as const;
const isAppend = (bytes: Buffer) => bytes.includes(APPEND.sha1) || bytes.includes(APPEND.text);

describeOwnRedis('An append to Redis', (startRedis) => {
  let redis: RedisServer;
  let proxy: TcpProxy;
  /** Connected through the proxy, with a command timeout of 200 ms. */
  let store: RedisEventStore<PlantEvent>;
  let plants: PlantStore;
  /** Another instance, connected directly. */
  let others: RedisEventStore<PlantEvent>;
  let close: (() => Promise<void>)[];

  before(async () => (redis = await startRedis()));

  beforeEach(async () => {
    await redis.admin.flushall();
    proxy = await TcpProxy.to({ host: new URL(redis.url).hostname, port: redis.port });
    const ours = await openStore(`redis://127.0.0.1:${proxy.port}`, { timeoutMs: 400 });
    const theirs = await openStore(redis.url);
    store = ours.store;
    plants = plantsOver(store);
    others = theirs.store;
    close = [ours.close, theirs.close, () => proxy.close()];
  });

  afterEach(async () => {
    for (const each of close) await each();
  });

  /** Id and data of all entries. */
  async function stored(): Promise<string[]> {
    return (await redis.admin.xrange(KEY, '-', '+')).map(([id, fields]) => `${id} ${fields[3]!}`);
  }

  async function names(): Promise<string[]> {
    return (await plants.list(ALICE, WHOLE)).plants.map(({ name }) => name);
  }

  for (const connection of ['cut', 'left open'] as const) {
    describe(`whose reply is lost after it was executed, the connection ${connection},`, () => {
      beforeEach(() => redis.admin.script('LOAD', APPEND.text));

      it('is retried, recorded once, and acknowledged', async () => {
        const lost = proxy.loseReply(isAppend, connection);
        const creation = plants.create(ALICE, newPlantOf(fern));

        expect((await lost).toString()).to.include('appended');
        expect(await creation).to.deep.equal({ events: [fern] });
        expect(await stored()).to.deep.equal(['1-0 {"id":1,"name":"Fern"}']);
      });

      it('is idempotent even if another writer has appended after it', async () => {
        const lost = proxy.loseReply(isAppend, connection);
        const creation = plants.create(ALICE, newPlantOf(fern));
        await lost;
        const { commit } = await headOfStream();
        await others.append(streamName('alice'), { version: 1, commit }, 'theirs', [moss, ivy]);

        expect(await creation).to.deep.equal({ events: [fern] });
        expect(await stored()).to.have.lengthOf(3);
        expect(await names()).to.deep.equal(['Fern', 'Moss', 'Ivy']);
      });

      it('is idempotent even if every reply but the last is lost', async () => {
        const creation = plants.create(ALICE, newPlantOf(fern));
        for (let lost = 0; lost < 2; lost++) await proxy.loseReply(isAppend, connection);

        expect(await creation).to.deep.equal({ events: [fern] });
        expect(await stored()).to.have.lengthOf(1);
      });

      it('has an unknown outcome at the store, which does not retry itself', async () => {
        const lost = proxy.loseReply(isAppend, connection);
        const failure = await failureOf(store.append(streamName('alice'), BEGINNING, 'ours', [fern]));

        await lost;
        expect(failure).to.be.an.instanceOf(OutcomeUnknown);
        expect(await stored()).to.have.lengthOf(1);
      });
    });
  }

  describe('whose connection breaks before it arrives', () => {
    beforeEach(() => redis.admin.script('LOAD', APPEND.text));

    for (const [where, length] of [
      ['in its first line', 2],
      ['in its middle', 100],
      ['before its last byte', -1],
    ] as const) {
      it(`${where} is never recorded, not even later`, async () => {
        const cut = proxy.cutRequest(isAppend, length);
        const failure = await failureOf(store.append(streamName('alice'), BEGINNING, 'ours', [fern]));

        await cut;
        expect(failure).to.be.an.instanceOf(OutcomeUnknown);
        await untilAnswered(() => store.read(streamName('alice'), BEGINNING));
        expect(await stored()).to.deep.equal([]);
        expect((await store.append(streamName('alice'), BEGINNING, 'anew', [moss])).status).to.equal(
          'appended',
        );
        expect(await stored()).to.deep.equal(['1-0 {"id":2,"name":"Moss"}']);
      });

      it(`${where} is retried by the service, and recorded once`, async () => {
        const cut = proxy.cutRequest(isAppend, length);

        expect(await plants.create(ALICE, newPlantOf(fern))).to.deep.equal({ events: [fern] });
        await cut;
        expect(await stored()).to.deep.equal(['1-0 {"id":1,"name":"Fern"}']);
      });
    }
  });

  describe('that a client library sends twice', () => {
    /** The bytes that the store sends. */
    function send(
      { version, commit: base }: Head,
      commit: string,
      data: string,
    ): Promise<[Buffer, number?, Buffer?]> {
      return redis.admin.callBuffer(
        'evalsha',
        APPEND.sha1,
        2,
        ...KEYS,
        version,
        base,
        commit,
        10,
        1000,
        ...NO_LEASE,
        '',
        'PlantCreated',
        data,
      ) as Promise<[Buffer, number?, Buffer?]>;
    }
    const data = (event: typeof fern) => plantCodec.encode(event).data;

    beforeEach(() => redis.admin.script('LOAD', APPEND.text));

    it('is recorded once, with the same reply', async () => {
      const answers = await Promise.all([1, 2].map(() => send(BEGINNING, 'ours', data(fern))));

      expect(answers.map(String)).to.deep.equal(['appended', 'appended']);
      expect(await stored()).to.deep.equal(['1-0 {"id":1,"name":"Fern"}']);
    });

    it('is recorded once even if others have appended in between', async () => {
      await send(BEGINNING, 'ours', data(fern));
      await others.append(streamName('alice'), { version: 1, commit: 'ours' }, 'theirs', [moss, ivy]);

      expect(String(await send(BEGINNING, 'ours', data(fern)))).to.equal('appended');
      expect(await stored()).to.have.lengthOf(3);
    });

    it('conflicts again if it conflicted the first time', async () => {
      await others.append(streamName('alice'), BEGINNING, 'theirs', [moss]);
      for (let time = 0; time < 2; time++) {
        const [status, more, packed] = await send(BEGINNING, 'ours', data(fern));
        expect([String(status), more]).to.deep.equal(['conflict', 0]);
        const recorded = { type: 'PlantCreated', data: data(moss), commit: 'theirs' };
        expect(new PackedEntries(packed!).rest()).to.deep.equal([{ id: '1-0', recorded }]);
      }
      expect(await stored()).to.have.lengthOf(1);
    });
  });

  describe('with the commit id of a recorded append', () => {
    /** Appends types and data to an empty stream. Resolves with the status. */
    async function append(...events: readonly string[]): Promise<string> {
      const args = [BEGINNING.version, BEGINNING.commit, 'same', 10, 1000, ...NO_LEASE, '', ...events];
      return String(((await executeScript(redis.admin, APPEND, KEYS, args)) as [Buffer])[0]);
    }
    const ours = ['Noted', 'a', 'Noted', 'b'];

    for (const [what, theirs] of [
      ['other data', ['Noted', 'a', 'Noted', 'c']],
      ['another type', ['Noted', 'a', 'Moved', 'b']],
      ['fewer events', ['Noted', 'a']],
      ['another order', ['Noted', 'b', 'Noted', 'a']],
    ] as const)
      it(`results in a conflict if that one has ${what}`, async () => {
        await append(...theirs);

        expect(await append(...ours)).to.equal('conflict');
        expect(await stored()).to.have.lengthOf(theirs.length / 2);
      });

    it('results in a conflict if the same events are of two commits', async () => {
      await append(...ours.slice(0, 2));
      await redis.admin.xadd(KEY, '2-0', 'type', 'Noted', 'data', 'b', 'commit', 'other');

      expect(await append(...ours)).to.equal('conflict');
      expect(await stored()).to.have.lengthOf(2);
    });

    it('is that append if it has the same events', async () => {
      await append(...ours);

      expect(await append(...ours)).to.equal('appended');
      expect(await stored()).to.have.lengthOf(2);
    });
  });

  it('is retried with the script after SCRIPT FLUSH', async () => {
    await plants.create(ALICE, newPlantOf(fern));
    await redis.admin.script('FLUSH');

    expect(await plants.create(ALICE, newPlantOf(moss))).to.deep.equal({ events: [moss] });
    expect(await stored()).to.have.lengthOf(2);
  });

  it('is recorded once if the reply to the EVAL of the script is lost', async () => {
    await redis.admin.script('FLUSH');
    const lost = proxy.loseReply((bytes) => bytes.includes(APPEND.text), 'cut');
    const creation = plants.create(ALICE, newPlantOf(fern));

    expect((await lost).toString()).to.include('appended');
    expect(await creation).to.deep.equal({ events: [fern] });
    expect(await stored()).to.have.lengthOf(1);
  });

  it('has exact versions above 1e14, which Lua prints as floating-point numbers', async () => {
    const version = 99_999_999_999_999;
    await redis.admin.xadd(KEY, `${version}-0`, 'type', 'PlantCreated', 'data', '{}', 'commit', 'base');

    const result = await store.append(streamName('alice'), { version, commit: 'base' }, 'ours', [fern, moss]);

    expect(result).to.deep.equal({ status: 'appended', head: { version: version + 2, commit: 'ours' } });
    expect((await stored()).slice(1)).to.deep.equal([
      '100000000000000-0 {"id":1,"name":"Fern"}',
      '100000000000001-0 {"id":2,"name":"Moss"}',
    ]);
  });

  it('may have more events than Lua can unpack', async () => {
    const events = ferns(10_000);
    const result = await others.append(streamName('alice'), BEGINNING, 'ours', events);

    expect(result).to.deep.equal({ status: 'appended', head: { version: 10_000, commit: 'ours' } });
    expect(await redis.admin.xlen(KEY)).to.equal(10_000);
  });

  describe('at a version whose entry was deleted', () => {
    it('is refused: no version is assigned twice', async () => {
      await plants.create(ALICE, newPlantOf(fern));
      await plants.create(ALICE, newPlantOf(moss));
      await redis.admin.xdel(KEY, '2-0');
      const known = await headOfStream();

      const failure = await failureOf(store.append(streamName('alice'), known, 'ours', [ivy]));

      expect(failure).to.be.an.instanceOf(StoreUnavailable);
      expect(await stored()).to.deep.equal(['1-0 {"id":1,"name":"Fern"}']);
    });
  });

  it('does not lower the last id of a stream with a deleted tail when it is retried', async () => {
    await others.append(streamName('alice'), BEGINNING, 'first', [fern]);
    await others.append(streamName('alice'), { version: 1, commit: 'first' }, 'ours', [moss]);
    await others.append(streamName('alice'), { version: 2, commit: 'ours' }, 'last', [ivy]);
    await redis.admin.xdel(KEY, '3-0');

    const repeated = await store.append(streamName('alice'), { version: 1, commit: 'first' }, 'ours', [moss]);

    expect(repeated.status).to.equal('appended');
    // Version 3 was served: it is never assigned to another event.
    const failure = await failureOf(
      store.append(streamName('alice'), { version: 2, commit: 'ours' }, 'other', [fern]),
    );
    expect(failure).to.be.an.instanceOf(StoreUnavailable);
    expect(await stored()).to.have.lengthOf(2);
  });

  it('has an unknown outcome if it was recorded and Redis refuses WAIT', async () => {
    await redis.admin.call('ACL', 'SETUSER', 'plants', 'on', '>pass', '~*', '+@all', '-wait');
    const { store, close } = await openStore(redis.url.replace('//', '//plants:pass@'), {
      waitReplicas: 1,
    });

    const failure = await failureOf(store.append(streamName('alice'), BEGINNING, 'ours', [fern]));

    await close();
    expect(failure).to.be.an.instanceOf(OutcomeUnknown);
    expect(await stored()).to.have.lengthOf(1);
  });

  const first = { version: 1, commit: 'first' };
  for (const [what, head, commit] of [
    ['result in a conflict', first, 'ours'],
    ['acknowledge a retry', first, 'second'],
    ['result in a reset', { version: 1, commit: 'another' }, 'ours'],
  ] as const) {
    it(`does not ${what} on a Redis that was demoted to a replica, and may be stale`, async () => {
      await others.append(streamName('alice'), BEGINNING, first.commit, [fern]);
      await others.append(streamName('alice'), first, 'second', [moss]);
      // Of an unreachable primary, so that it keeps its data.
      await redis.admin.replicaof('127.0.0.1', 1);

      const failure = await failureOf(store.append(streamName('alice'), head, commit, [moss])).finally(() =>
        redis.admin.replicaof('NO', 'ONE'),
      );

      expect(failure).to.be.an.instanceOf(StoreUnavailable);
      expect(await stored()).to.have.lengthOf(2);
    });
  }

  async function headOfStream(): Promise<Head> {
    const result = await others.read(streamName('alice'), BEGINNING);
    return result.status === 'read' ? result.events.at(-1)! : expect.fail(result.status);
  }
});

async function failureOf(answer: Promise<unknown>): Promise<unknown> {
  return answer.then(
    (value) => expect.fail(`answered ${JSON.stringify(value)}`),
    (failure: unknown) => failure,
  );
}

/** Retries until the store answers: the reconnect takes time. */
async function untilAnswered(ask: () => Promise<unknown>): Promise<void> {
  for (;;) {
    try {
      await ask();
      return;
    } catch {
      await pause(5);
    }
  }
}
