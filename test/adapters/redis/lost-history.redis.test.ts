import { expect } from 'chai';
import { BEGINNING, type PlantStore, parseUser } from '../../../src/application';
import { Client } from '../../support/client';
import { created, newPlant, plantId, planting } from '../../support/given';
import { startInstance } from '../../support/instance';
import { describeRedis } from '../../support/redis';
import { openStore, plantsOver } from './open-store';

const ALICE = parseUser('alice')!;
const WHOLE = { limit: Infinity, after: 0 };

const [fern, moss, ivy, aloe] = [
  created(1, 'Fern'),
  created(2, 'Moss'),
  created(3, 'Ivy'),
  created(4, 'Aloe'),
] as const;

/**
 * A failover can lose the end of a stream, and what comes after it may get the
 * same versions again. Played here by restoring an older dump of the stream.
 */
describeRedis('An instance whose Redis lost what it had acknowledged', (redis) => {
  let ours: Awaited<ReturnType<typeof openStore>>;
  let theirs: Awaited<ReturnType<typeof openStore>>;
  /** Lives through the loss. */
  let plants: PlantStore;
  /** Comes up after the loss, and knows nothing of it. */
  let others: PlantStore;
  let key: string;
  let told: string[];

  beforeEach(async () => {
    key = `${redis.prefix}:{alice}:events`;
    await redis.admin.del(key);
    told = [];
    const keyPrefix = redis.prefix;
    [ours, theirs] = await Promise.all([
      openStore(redis.url, { keyPrefix }),
      openStore(redis.url, { keyPrefix }),
    ]);
    plants = plantsOver(ours.store, {
      historyLost: (stream, { version }) => void told.push(`${stream} lost version ${version}`),
      fault: (stream, error) => void told.push(`${stream}: ${String(error)}`),
    });
    others = plantsOver(theirs.store);
  });

  afterEach(async () => {
    await ours.close();
    await theirs.close();
  });

  /** Fern survives; Moss, which was acknowledged after it, does not. */
  async function loseMoss(): Promise<void> {
    await plants.create(ALICE, planting(fern));
    const older = await redis.admin.dumpBuffer(key);
    await plants.create(ALICE, planting(moss));
    expect(await names()).to.deep.equal(['Fern', 'Moss']);
    await redis.admin.restore(key, 0, older, 'REPLACE');
  }

  async function names(): Promise<string[]> {
    return (await plants.list(ALICE, WHOLE)).plants.map(({ name }) => name);
  }

  /** Id and data of all entries. */
  async function stored(): Promise<string[]> {
    return (await redis.admin.xrange(key, '-', '+')).map(([id, fields]) => `${id} ${fields[3]!}`);
  }

  describe('and went on from an older state', () => {
    it('lists what there is, and tells of the loss once', async () => {
      await loseMoss();

      expect(await names()).to.deep.equal(['Fern']);
      expect(await names()).to.deep.equal(['Fern']);
      expect(told).to.deep.equal(['alice lost version 2']);
    });

    it('writes behind what there is, and tells of the loss once', async () => {
      await loseMoss();

      expect(await plants.create(ALICE, planting(ivy))).to.deep.equal({ event: ivy });
      expect(await stored()).to.deep.equal(['1-0 {"id":1,"name":"Fern"}', '2-0 {"id":3,"name":"Ivy"}']);
      expect(await names()).to.deep.equal(['Fern', 'Ivy']);
      expect(told).to.deep.equal(['alice lost version 2']);
    });

    it('decides by what there is: the lost id is free again, and nothing of it can be deleted', async () => {
      await loseMoss();
      expect(await plants.delete(ALICE, plantId(2))).to.deep.equal({ rejection: 'no-such-plant' });
      expect(await plants.create(ALICE, planting(moss))).to.deep.equal({ event: moss });
    });

    it('gives lists new heads, so that no client takes an old one for current', async () => {
      await plants.create(ALICE, planting(fern));
      const older = await redis.admin.dumpBuffer(key);
      await plants.create(ALICE, planting(moss));
      const before = await plants.list(ALICE, WHOLE);
      await redis.admin.restore(key, 0, older, 'REPLACE');
      await others.create(ALICE, planting(ivy));
      const after = await plants.list(ALICE, WHOLE);

      expect(after.head.version).to.equal(before.head.version);
      expect(after.head.commit).not.to.equal(before.head.commit);
    });
  });

  for (const [reached, theirPlants] of [
    ['the same version', [ivy]],
    ['a higher version', [ivy, aloe]],
  ] as const) {
    describe(`and where another history has reached ${reached} since`, () => {
      beforeEach(async () => {
        await loseMoss();
        for (const plant of theirPlants) await others.create(ALICE, planting(plant));
      });
      const theirNames = theirPlants.map(({ name }) => name);

      it('lists that one', async () => {
        expect(await names()).to.deep.equal(['Fern', ...theirNames]);
        expect(told).to.deep.equal(['alice lost version 2']);
      });

      it('writes behind that one', async () => {
        expect(await plants.create(ALICE, planting(moss))).to.deep.equal({ event: moss });
        expect(await names()).to.deep.equal(['Fern', ...theirNames, 'Moss']);
        expect(await stored()).to.have.lengthOf(1 + theirPlants.length + 1);
        expect(told).to.deep.equal(['alice lost version 2']);
      });

      it('rejects by that one', async () => {
        expect(await plants.create(ALICE, planting(ivy))).to.deep.equal({ rejection: 'id-taken' });
        expect(told).to.deep.equal(['alice lost version 2']);
      });
    });
  }

  it('starts at the beginning where nothing is left at all', async () => {
    await loseMoss();
    await redis.admin.del(key);

    expect(await names()).to.deep.equal([]);
    expect(await plants.create(ALICE, planting(ivy))).to.deep.equal({ event: ivy });
    expect(await stored()).to.deep.equal(['1-0 {"id":3,"name":"Ivy"}']);
    expect(told).to.deep.equal(['alice lost version 2']);
  });

  it('is told so also where the rest of the very commit that it knows is still there', async () => {
    await ours.store.append('alice', BEGINNING, 'one commit', [fern, moss, ivy]);
    await redis.admin.xdel(key, '2-0');
    const known = { version: 2, commit: 'one commit' };

    expect(await ours.store.read('alice', known)).to.deep.equal({ status: 'reset' });
    expect(await ours.store.append('alice', known, 'ours', [aloe])).to.deep.equal({ status: 'reset' });
  });

  it('is not confused by a loss while it reads a long history page by page', async () => {
    for (const id of [1, 2, 3, 4, 5]) await others.create(ALICE, newPlant(id, `Fern ${id}`));
    const older = await redis.admin.dumpBuffer(key);
    await redis.admin.del(key);
    await others.create(ALICE, planting(moss));
    const newer = await redis.admin.dumpBuffer(key);
    await redis.admin.restore(key, 0, older, 'REPLACE');

    const { store, close } = await openStore(redis.url, { keyPrefix: redis.prefix, pageSize: 2 });
    const read = store.read.bind(store);
    let pages = 0;
    store.read = async (...args) => {
      if (++pages === 2) await redis.admin.restore(key, 0, newer, 'REPLACE');
      return read(...args);
    };
    const { plants: listed } = await plantsOver(store).list(ALICE, WHOLE);

    await close();
    expect(listed).to.deep.equal([{ name: 'Moss' }]);
  });

  it('logs it, with the version that is gone', async () => {
    const instance = await startInstance({ REDIS_URL: redis.url, REDIS_KEY_PREFIX: redis.prefix });
    const alice = new Client(instance.url);
    await alice.create(1, 'Fern');
    await redis.admin.del(key);

    expect((await alice.list()).names).to.deep.equal([]);

    await instance.stop();
    const lines = instance.log.filter(({ msg }) => msg.includes('lost history'));
    expect(lines).to.have.lengthOf(1);
    expect(lines[0]).to.include({ level: 50, version: 1 });
  });
});
