import { expect } from 'chai';
import { setTimeout as pause } from 'node:timers/promises';
import { APPEND, APPEND_SHA1 } from '../../../src/adapters/redis/append-script';
import type { RedisEventStore } from '../../../src/adapters/redis/event-store';
import { encodeEvent } from '../../../src/adapters/redis/storage-format';
import {
  BEGINNING,
  type Head,
  OutcomeUnknown,
  type PlantStore,
  StoreUnavailable,
  parseUser,
} from '../../../src/application';
import { created, ferns, planting } from '../../support/given';
import { type RedisServer, describeOwnRedis } from '../../support/redis';
import { TcpProxy } from '../../support/tcp-proxy';
import { openStore, plantsOver } from './open-store';

const ALICE = parseUser('alice')!;
const KEY = 'plant-store:{alice}:events';
const WHOLE = { limit: Infinity, after: 0 };

const [fern, moss, ivy] = [created(1, 'Fern'), created(2, 'Moss'), created(3, 'Ivy')] as const;
const isAppend = (bytes: Buffer) => bytes.includes('evalsha') || bytes.includes('eval\r\n');

describeOwnRedis('An append to Redis', (startRedis) => {
  let redis: RedisServer;
  let proxy: TcpProxy;
  /** Reaches Redis by way of the proxy; a command of its is given up after 200 ms. */
  let store: RedisEventStore;
  let plants: PlantStore;
  /** Another instance, with a way of its own. */
  let others: RedisEventStore;
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
      beforeEach(() => redis.admin.script('LOAD', APPEND));

      it('is repeated, recorded once, and answered as a success', async () => {
        const lost = proxy.loseReply(isAppend, connection);
        const creation = plants.create(ALICE, planting(fern));

        expect((await lost).toString()).to.include('appended');
        expect(await creation).to.deep.equal({ event: fern });
        expect(await stored()).to.deep.equal(['1-0 {"id":1,"name":"Fern"}']);
      });

      it('is so also when events of another writer have followed it meanwhile', async () => {
        const lost = proxy.loseReply(isAppend, connection);
        const creation = plants.create(ALICE, planting(fern));
        await lost;
        const { commit } = await headOfStream();
        await others.append('alice', { version: 1, commit }, 'theirs', [moss, ivy]);

        expect(await creation).to.deep.equal({ event: fern });
        expect(await stored()).to.have.lengthOf(3);
        expect(await names()).to.deep.equal(['Fern', 'Moss', 'Ivy']);
      });

      it('is so also when every reply but the last is lost', async () => {
        const creation = plants.create(ALICE, planting(fern));
        for (let lost = 0; lost < 2; lost++) await proxy.loseReply(isAppend, connection);

        expect(await creation).to.deep.equal({ event: fern });
        expect(await stored()).to.have.lengthOf(1);
      });

      it('is told of as unknown by the store, which repeats nothing by itself', async () => {
        const lost = proxy.loseReply(isAppend, connection);
        const failure = await failureOf(store.append('alice', BEGINNING, 'ours', [fern]));

        await lost;
        expect(failure).to.be.an.instanceOf(OutcomeUnknown);
        expect(await stored()).to.have.lengthOf(1);
      });
    });
  }

  describe('that is cut off on its way', () => {
    beforeEach(() => redis.admin.script('LOAD', APPEND));

    for (const [where, length] of [
      ['in its first line', 2],
      ['in its middle', 100],
      ['before its last byte', -1],
    ] as const) {
      it(`${where} is never recorded, not later either`, async () => {
        const cut = proxy.cutRequest(isAppend, length);
        const failure = await failureOf(store.append('alice', BEGINNING, 'ours', [fern]));

        await cut;
        expect(failure).to.be.an.instanceOf(OutcomeUnknown);
        await untilAnswered(() => store.read('alice', BEGINNING));
        expect(await stored()).to.deep.equal([]);
        expect((await store.append('alice', BEGINNING, 'anew', [moss])).status).to.equal('appended');
        expect(await stored()).to.deep.equal(['1-0 {"id":2,"name":"Moss"}']);
      });

      it(`${where} is repeated by the service, and recorded once`, async () => {
        const cut = proxy.cutRequest(isAppend, length);

        expect(await plants.create(ALICE, planting(fern))).to.deep.equal({ event: fern });
        await cut;
        expect(await stored()).to.deep.equal(['1-0 {"id":1,"name":"Fern"}']);
      });
    }
  });

  describe('that reaches Redis twice, as when a client library sends it again,', () => {
    /** The very bytes that the store would send. */
    function send({ version, commit: base }: Head, commit: string, data: string): Promise<unknown> {
      return redis.admin.evalsha(APPEND_SHA1, 1, KEY, version, base, commit, 10, 'PlantCreated', data);
    }
    const data = (event: typeof fern) => encodeEvent(event).data;

    beforeEach(() => redis.admin.script('LOAD', APPEND));

    it('is recorded once, and answered alike', async () => {
      const answers = await Promise.all([1, 2].map(() => send(BEGINNING, 'ours', data(fern))));

      expect(answers).to.deep.equal([['appended'], ['appended']]);
      expect(await stored()).to.deep.equal(['1-0 {"id":1,"name":"Fern"}']);
    });

    it('is so also when others have appended in between', async () => {
      await send(BEGINNING, 'ours', data(fern));
      await others.append('alice', { version: 1, commit: 'ours' }, 'theirs', [moss, ivy]);

      expect(await send(BEGINNING, 'ours', data(fern))).to.deep.equal(['appended']);
      expect(await stored()).to.have.lengthOf(3);
    });

    it('stays refused where it was refused the first time', async () => {
      await others.append('alice', BEGINNING, 'theirs', [moss]);
      const conflict = [
        'conflict',
        [['1-0', ['type', 'PlantCreated', 'data', data(moss), 'commit', 'theirs']]],
      ];

      expect(await send(BEGINNING, 'ours', data(fern))).to.deep.equal(conflict);
      expect(await send(BEGINNING, 'ours', data(fern))).to.deep.equal(conflict);
      expect(await stored()).to.have.lengthOf(1);
    });
  });

  it('works on when Redis has forgotten all scripts', async () => {
    await plants.create(ALICE, planting(fern));
    await redis.admin.script('FLUSH');

    expect(await plants.create(ALICE, planting(moss))).to.deep.equal({ event: moss });
    expect(await stored()).to.have.lengthOf(2);
  });

  it('is recorded once also where the reply is lost to the script that was sent whole', async () => {
    await redis.admin.script('FLUSH');
    const lost = proxy.loseReply((bytes) => bytes.includes(APPEND), 'cut');
    const creation = plants.create(ALICE, planting(fern));

    expect((await lost).toString()).to.include('appended');
    expect(await creation).to.deep.equal({ event: fern });
    expect(await stored()).to.have.lengthOf(1);
  });

  it('counts exactly where a Lua number would be printed as 1e+14', async () => {
    const version = 99_999_999_999_999;
    await redis.admin.xadd(KEY, `${version}-0`, 'type', 'PlantCreated', 'data', '{}', 'commit', 'base');

    const result = await store.append('alice', { version, commit: 'base' }, 'ours', [fern, moss]);

    expect(result).to.deep.equal({ status: 'appended', head: { version: version + 2, commit: 'ours' } });
    expect((await stored()).slice(1)).to.deep.equal([
      '100000000000000-0 {"id":1,"name":"Fern"}',
      '100000000000001-0 {"id":2,"name":"Moss"}',
    ]);
  });

  it('may hold more events than Lua can unpack', async () => {
    const events = ferns(10_000);
    const result = await others.append('alice', BEGINNING, 'ours', events);

    expect(result).to.deep.equal({ status: 'appended', head: { version: 10_000, commit: 'ours' } });
    expect(await redis.admin.xlen(KEY)).to.equal(10_000);
  });

  describe('whose version was used before, though the entry is gone,', () => {
    it('is refused: no version is ever given twice', async () => {
      await plants.create(ALICE, planting(fern));
      await plants.create(ALICE, planting(moss));
      await redis.admin.xdel(KEY, '2-0');
      const known = await headOfStream();

      const failure = await failureOf(store.append('alice', known, 'ours', [ivy]));

      expect(failure).to.be.an.instanceOf(StoreUnavailable);
      expect(await stored()).to.deep.equal(['1-0 {"id":1,"name":"Fern"}']);
    });
  });

  it('repeated does not lower the last id of a stream whose tail was deleted', async () => {
    await others.append('alice', BEGINNING, 'first', [fern]);
    await others.append('alice', { version: 1, commit: 'first' }, 'ours', [moss]);
    await others.append('alice', { version: 2, commit: 'ours' }, 'last', [ivy]);
    await redis.admin.xdel(KEY, '3-0');

    const repeated = await store.append('alice', { version: 1, commit: 'first' }, 'ours', [moss]);

    expect(repeated.status).to.equal('appended');
    // Version 3 was served: it is never given to another event.
    const failure = await failureOf(store.append('alice', { version: 2, commit: 'ours' }, 'other', [fern]));
    expect(failure).to.be.an.instanceOf(StoreUnavailable);
    expect(await stored()).to.have.lengthOf(2);
  });

  it('that was recorded is never said not to be, because Redis refuses to WAIT', async () => {
    await redis.admin.call('ACL', 'SETUSER', 'plants', 'on', '>pass', '~*', '+@all', '-wait');
    const { store, close } = await openStore(redis.url.replace('//', '//plants:pass@'), {
      waitReplicas: 1,
    });

    const failure = await failureOf(store.append('alice', BEGINNING, 'ours', [fern]));

    await close();
    expect(failure).to.be.an.instanceOf(OutcomeUnknown);
    expect(await stored()).to.have.lengthOf(1);
  });

  const first = { version: 1, commit: 'first' };
  for (const [what, head, commit] of [
    ['learn what is newer', first, 'ours'],
    ['learn that its repeat is recorded', first, 'second'],
    ['learn that the history is another one', { version: 1, commit: 'another' }, 'ours'],
  ] as const) {
    it(`does not ${what} from a Redis that was made a replica, and may be behind`, async () => {
      await others.append('alice', BEGINNING, first.commit, [fern]);
      await others.append('alice', first, 'second', [moss]);
      // Of a primary that nobody can reach, so that it keeps what it has.
      await redis.admin.replicaof('127.0.0.1', 1);

      const failure = await failureOf(store.append('alice', head, commit, [moss])).finally(() =>
        redis.admin.replicaof('NO', 'ONE'),
      );

      expect(failure).to.be.an.instanceOf(StoreUnavailable);
      expect(await stored()).to.have.lengthOf(2);
    });
  }

  async function headOfStream(): Promise<Head> {
    const result = await others.read('alice', BEGINNING);
    return result.status === 'read' ? result.events.at(-1)! : expect.fail(result.status);
  }
});

async function failureOf(answer: Promise<unknown>): Promise<unknown> {
  return answer.then(
    (value) => expect.fail(`answered ${JSON.stringify(value)}`),
    (failure: unknown) => failure,
  );
}

/** Asks until it is answered: a connection that broke is not back at once. */
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
