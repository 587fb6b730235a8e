import { expect } from 'chai';
import { RedisEventStore } from '../../../src/adapters/redis/event-store';
import { inOneExecution } from '../../../src/adapters/redis/many-calls';
import { executeScript } from '../../../src/adapters/redis/script';
import { APPEND } from '../../../src/adapters/redis/stream-scripts';
import { NO_LEASE } from '../../../src/adapters/redis/server-checks';
import { type PlantStore, parseUser } from '../../../src/application';
import { BEGINNING, type Head, OutcomeUnknown, StoreUnavailable } from '../../../src/event-sourcing';
import { encoded, created, ferns, newPlantOf, plantsOf } from '../../support/given';
import { type RedisServer, describeOwnRedis } from '../../support/redis';
import { openStore, plantsOver } from './open-store';

const ALICE = parseUser('alice')!;
const KEY = 'plant-store:{39}:plants/alice:events';
const KEYS = [KEY, 'plant-store:{39}:plants/alice:base', 'plant-store:{39}:feed'];

const [fern, moss, ivy] = [created(1, 'Fern'), created(2, 'Moss'), created(3, 'Ivy')] as const;

describeOwnRedis('An append to Redis', (startRedis) => {
  let redis: RedisServer;
  let store: RedisEventStore;
  let plants: PlantStore;
  /** Another instance. */
  let others: RedisEventStore;
  let close: (() => Promise<void>)[];

  before(async () => (redis = await startRedis()));

  beforeEach(async () => {
    await redis.admin.flushall();
    const ours = await openStore(redis.url);
    const theirs = await openStore(redis.url);
    store = ours.store;
    plants = plantsOver(store);
    others = theirs.store;
    close = [ours.close, theirs.close];
  });

  afterEach(async () => {
    for (const each of close) await each();
  });

  /** Id and data of all entries. */
  async function stored(): Promise<string[]> {
    return (await redis.admin.xrange(KEY, '-', '+')).map(([id, fields]) => `${id} ${fields[3]!}`);
  }

  describe('with the commit id of a recorded append', () => {
    /** Appends types and data to an empty stream. Resolves with the status. */
    async function append(...events: readonly string[]): Promise<string> {
      const args = [BEGINNING.version, BEGINNING.commit, 'same', 10, 1000, '', 'a', ...events];
      const call = inOneExecution([{ keys: KEYS, args }], { keys: [], args: [...NO_LEASE, ''] });
      return String(((await executeScript(redis.admin, APPEND, ...call)) as [[Buffer]])[0][0]);
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
    await plants.create(ALICE, newPlantOf(fern.id, fern.plant));
    await redis.admin.script('FLUSH');

    expect(await plants.create(ALICE, newPlantOf(moss.id, moss.plant))).to.deep.equal({ events: [moss] });
    expect(await stored()).to.have.lengthOf(2);
  });

  it('has exact versions above 1e14, which Lua prints as floating-point numbers', async () => {
    const version = 99_999_999_999_999;
    await redis.admin.xadd(KEY, `${version}-0`, 'type', 'PlantCreated', 'data', '{}', 'commit', 'base');

    const result = await store.append(
      plantsOf('alice'),
      { version, commit: 'base' },
      'ours',
      encoded(fern, moss),
    );

    expect(result).to.deep.equal({ status: 'appended', head: { version: version + 2, commit: 'ours' } });
    expect((await stored()).slice(1)).to.deep.equal([
      '100000000000000-0 {"id":1,"name":"Fern"}',
      '100000000000001-0 {"id":2,"name":"Moss"}',
    ]);
  });

  it('may have more events than Lua can unpack', async () => {
    const events = ferns(10_000);
    const result = await others.append(plantsOf('alice'), BEGINNING, 'ours', encoded(...events));

    expect(result).to.deep.equal({ status: 'appended', head: { version: 10_000, commit: 'ours' } });
    expect(await redis.admin.xlen(KEY)).to.equal(10_000);
  });

  describe('at a version whose entry was deleted', () => {
    it('is refused: no version is assigned twice', async () => {
      await plants.create(ALICE, newPlantOf(fern.id, fern.plant));
      await plants.create(ALICE, newPlantOf(moss.id, moss.plant));
      await redis.admin.xdel(KEY, '2-0');
      const known = await headOfStream();

      const failure = await failureOf(store.append(plantsOf('alice'), known, 'ours', encoded(ivy)));

      expect(failure).to.be.an.instanceOf(StoreUnavailable);
      expect(await stored()).to.deep.equal(['1-0 {"id":1,"name":"Fern"}']);
    });
  });

  it('does not lower the last id of a stream with a deleted tail when it is retried', async () => {
    await others.append(plantsOf('alice'), BEGINNING, 'first', encoded(fern));
    await others.append(plantsOf('alice'), { version: 1, commit: 'first' }, 'ours', encoded(moss));
    await others.append(plantsOf('alice'), { version: 2, commit: 'ours' }, 'last', encoded(ivy));
    await redis.admin.xdel(KEY, '3-0');

    const repeated = await store.append(
      plantsOf('alice'),
      { version: 1, commit: 'first' },
      'ours',
      encoded(moss),
    );

    expect(repeated.status).to.equal('appended');
    // Version 3 was served: it is never assigned to another event.
    const failure = await failureOf(
      store.append(plantsOf('alice'), { version: 2, commit: 'ours' }, 'other', encoded(fern)),
    );
    expect(failure).to.be.an.instanceOf(StoreUnavailable);
    expect(await stored()).to.have.lengthOf(2);
  });

  describe('beside others in one turn of the event loop', () => {
    const USERS = ['alice', 'bob', 'carol'];
    const appendOf = (user: string) => store.append(plantsOf(user), BEGINNING, 'ours', encoded(fern));
    /** How often Redis has executed a command since RESETSTAT. */
    const calls = async (name: string) =>
      Number(
        new RegExp(`cmdstat_${name}:calls=(\\d+)`).exec(await redis.admin.info('commandstats'))?.[1] ?? 0,
      );

    it('is one command with them, and so are reads', async () => {
      await appendOf('dave');
      await redis.admin.config('RESETSTAT');

      await Promise.all(USERS.map(appendOf));
      const appends = await calls('evalsha');
      const reads = await Promise.all(USERS.map((user) => store.read(plantsOf(user), BEGINNING)));

      expect(appends).to.equal(1);
      expect(reads.map(({ status }) => status)).to.deep.equal(['read', 'read', 'read']);
      // The script of the reads is sent once, because Redis does not know it.
      expect((await calls('evalsha')) + (await calls('eval'))).to.be.at.most(3);
    });

    it('fails alone if Redis refuses it, and so does a read', async () => {
      await redis.admin.set('plant-store:{20}:plants/bob:events', 'no stream');

      const appends = await Promise.allSettled(USERS.map(appendOf));
      const reads = await Promise.allSettled(USERS.map((user) => store.read(plantsOf(user), BEGINNING)));

      for (const [alice, bob, carol] of [appends, reads]) {
        expect([alice!.status, carol!.status]).to.deep.equal(['fulfilled', 'fulfilled']);
        expect(bob).to.have.property('reason').that.is.an.instanceOf(StoreUnavailable);
      }
    });
  });

  it('has an unknown outcome if it was recorded and Redis refuses WAIT', async () => {
    await redis.admin.call('ACL', 'SETUSER', 'plants', 'on', '>pass', '~*', '+@all', '-wait');
    const { store, close } = await openStore(redis.url.replace('//', '//plants:pass@'), {
      waitReplicas: 1,
    });

    const failure = await failureOf(store.append(plantsOf('alice'), BEGINNING, 'ours', encoded(fern)));

    await close();
    expect(failure).to.be.an.instanceOf(OutcomeUnknown);
    expect(await stored()).to.have.lengthOf(1);
  });

  const first = { version: 1, commit: 'first' };
  for (const [what, head, commit] of [
    ['write', { version: 2, commit: 'second' }, 'ours'],
    ['result in a conflict', first, 'ours'],
    ['acknowledge a retry', first, 'second'],
    ['result in a reset', { version: 1, commit: 'another' }, 'ours'],
  ] as const) {
    it(`does not ${what} on a Redis that was demoted to a replica, and may be stale`, async () => {
      await others.append(plantsOf('alice'), BEGINNING, first.commit, encoded(fern));
      await others.append(plantsOf('alice'), first, 'second', encoded(moss));
      // Of an unreachable primary, so that it keeps its data.
      await redis.admin.replicaof('127.0.0.1', 1);

      const failure = await failureOf(store.append(plantsOf('alice'), head, commit, encoded(moss))).finally(
        () => redis.admin.replicaof('NO', 'ONE'),
      );

      expect(failure).to.be.an.instanceOf(StoreUnavailable);
      // So the connection is made anew, to the primary by now.
      expect(failure).to.have.property('message', 'Redis was made a replica');
      expect(await stored()).to.have.lengthOf(2);
    });
  }

  async function headOfStream(): Promise<Head> {
    const result = await others.read(plantsOf('alice'), BEGINNING);
    return result.status === 'read' ? result.events.at(-1)! : expect.fail(result.status);
  }
});

async function failureOf(answer: Promise<unknown>): Promise<unknown> {
  return answer.then(
    (value) => expect.fail(`answered ${JSON.stringify(value)}`),
    (failure: unknown) => failure,
  );
}
