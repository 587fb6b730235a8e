import { streamName } from '../../../src/testing/a-stream';
import { expect } from 'chai';
import { type PlantStore, parseUser } from '../../../src/application';
import { BEGINNING } from '../../../src/event-sourcing';
import { Client } from '../../support/client';
import { created, newPlant, plantId, newPlantOf } from '../../support/given';
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
 * A failover can lose the last events of a stream, and later events may get the
 * same versions again. Simulated by restoring an older dump of the stream.
 */
describeRedis('An instance whose Redis lost acknowledged events', (redis) => {
  let ours: Awaited<ReturnType<typeof openStore>>;
  let theirs: Awaited<ReturnType<typeof openStore>>;
  /** Started before the loss. */
  let plants: PlantStore;
  /** Started after the loss. */
  let others: PlantStore;
  let key: string;
  let notifications: string[];

  beforeEach(async () => {
    key = `${redis.prefix}:{alice}:events`;
    await redis.admin.del(key);
    notifications = [];
    const keyPrefix = redis.prefix;
    [ours, theirs] = await Promise.all([
      openStore(redis.url, { keyPrefix }),
      openStore(redis.url, { keyPrefix }),
    ]);
    plants = plantsOver(ours.store, {
      historyLost: (stream, { version }) => void notifications.push(`${stream} lost version ${version}`),
      fault: (stream, error) => void notifications.push(`${stream}: ${String(error)}`),
    });
    others = plantsOver(theirs.store);
  });

  afterEach(async () => {
    await ours.close();
    await theirs.close();
  });

  /** Fern survives; Moss, which was acknowledged after it, does not. */
  async function loseMoss(): Promise<void> {
    await plants.create(ALICE, newPlantOf(fern));
    const older = await redis.admin.dumpBuffer(key);
    await plants.create(ALICE, newPlantOf(moss));
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

  describe('and continued from an older state', () => {
    it('lists the current plants, and logs the loss once', async () => {
      await loseMoss();

      expect(await names()).to.deep.equal(['Fern']);
      expect(await names()).to.deep.equal(['Fern']);
      expect(notifications).to.deep.equal(['alice lost version 2']);
    });

    it('appends after the current events, and logs the loss once', async () => {
      await loseMoss();

      expect(await plants.create(ALICE, newPlantOf(ivy))).to.deep.equal({ events: [ivy] });
      expect(await stored()).to.deep.equal(['1-0 {"id":1,"name":"Fern"}', '2-0 {"id":3,"name":"Ivy"}']);
      expect(await names()).to.deep.equal(['Fern', 'Ivy']);
      expect(notifications).to.deep.equal(['alice lost version 2']);
    });

    it('decides against the current events: the lost id is free again', async () => {
      await loseMoss();
      expect(await plants.delete(ALICE, plantId(2))).to.deep.equal({ rejection: 'no-such-plant' });
      expect(await plants.create(ALICE, newPlantOf(moss))).to.deep.equal({ events: [moss] });
    });

    it('lists with a new head, so that no client treats an old list as current', async () => {
      await plants.create(ALICE, newPlantOf(fern));
      const older = await redis.admin.dumpBuffer(key);
      await plants.create(ALICE, newPlantOf(moss));
      const before = await plants.list(ALICE, WHOLE);
      await redis.admin.restore(key, 0, older, 'REPLACE');
      await others.create(ALICE, newPlantOf(ivy));
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
        for (const plant of theirPlants) await others.create(ALICE, newPlantOf(plant));
      });
      const theirNames = theirPlants.map(({ name }) => name);

      it('lists its plants', async () => {
        expect(await names()).to.deep.equal(['Fern', ...theirNames]);
        expect(notifications).to.deep.equal(['alice lost version 2']);
      });

      it('appends after its events', async () => {
        expect(await plants.create(ALICE, newPlantOf(moss))).to.deep.equal({ events: [moss] });
        expect(await names()).to.deep.equal(['Fern', ...theirNames, 'Moss']);
        expect(await stored()).to.have.lengthOf(1 + theirPlants.length + 1);
        expect(notifications).to.deep.equal(['alice lost version 2']);
      });

      it('decides against its events', async () => {
        expect(await plants.create(ALICE, newPlantOf(ivy))).to.deep.equal({ rejection: 'id-taken' });
        expect(notifications).to.deep.equal(['alice lost version 2']);
      });
    });
  }

  it('starts at the beginning if the whole stream was lost', async () => {
    await loseMoss();
    await redis.admin.del(key);

    expect(await names()).to.deep.equal([]);
    expect(await plants.create(ALICE, newPlantOf(ivy))).to.deep.equal({ events: [ivy] });
    expect(await stored()).to.deep.equal(['1-0 {"id":3,"name":"Ivy"}']);
    expect(notifications).to.deep.equal(['alice lost version 2']);
  });

  it('detects it even if a part of the known commit is left', async () => {
    await ours.store.append(streamName('alice'), BEGINNING, 'one commit', [fern, moss, ivy]);
    await redis.admin.xdel(key, '2-0');
    const known = { version: 2, commit: 'one commit' };

    expect(await ours.store.read(streamName('alice'), known)).to.deep.equal({ status: 'reset' });
    expect(await ours.store.append(streamName('alice'), known, 'ours', [aloe])).to.deep.equal({
      status: 'reset',
    });
  });

  it('detects a loss between two pages of a long history', async () => {
    for (const id of [1, 2, 3, 4, 5]) await others.create(ALICE, newPlant(id, `Fern ${id}`));
    const older = await redis.admin.dumpBuffer(key);
    await redis.admin.del(key);
    await others.create(ALICE, newPlantOf(moss));
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

  it('logs the lost version', async () => {
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
