import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { type PlantStore, type User, parseUser } from '../../../src/application';
import type { SnapshotOutcome } from '../../../src/event-sourcing';
import { newPlant, plantId } from '../../support/given';
import { HttpClient } from '../../support/client';
import { type Instance, instancesPerTest } from '../../support/instance';
import { metricOf } from '../../support/metrics';
import { describeRedis } from '../../support/redis';
import { until } from '../../support/until';
import { openStore, plantsOver } from './open-store';
import { type KeyKind, keyOf } from '../../support/keys';

const EVENTS = 12;

describeRedis('A fresh instance, and a user of whom Redis has a snapshot', (redis) => {
  const startInstances = instancesPerTest();
  let alice: User;
  let close: (() => Promise<void>)[] = [];
  const key = (kind: KeyKind, user = alice) => keyOf(user, redis.prefix, kind);

  /** A new instance. `reads` has the versions after which it reads the history; `outcomes` those of snapshots. */
  async function startPlants(every: number) {
    const {
      store,
      snapshots,
      close: end,
    } = await openStore(redis.url, { keyPrefix: redis.prefix, pageSize: 2 });
    close.push(end);
    const reads: number[] = [];
    const read = store.read.bind(store);
    store.read = (stream, after) => {
      reads.push(after.version);
      return read(stream, after);
    };
    const outcomes: SnapshotOutcome[] = [];
    const lost: number[] = [];
    const observer = {
      snapshot: (_: string, outcome: SnapshotOutcome) => void outcomes.push(outcome),
      historyLost: (_: string, { version }: { version: number }) => void lost.push(version),
    };
    const plants = plantsOver(store, observer, { store: snapshots, every });
    return { plants, reads, outcomes, lost };
  }

  async function create(plants: PlantStore, from: number, to: number, user = alice): Promise<void> {
    for (let id = from; id <= to; id++) await plants.create(user, newPlant(id, `plant ${id}`));
  }

  const list = async (plants: PlantStore) => (await plants.list(alice)).plants.map(({ name }) => name);
  const names = (from: number, to: number) =>
    Array.from({ length: to - from + 1 }, (_, index) => `plant ${from + index}`);

  beforeEach(async () => {
    alice = parseUser(`alice-${randomUUID()}`)!;
    const writer = await startPlants(EVENTS);
    await create(writer.plants, 1, EVENTS);
    await until(() => writer.outcomes.includes('saved'));
  });
  afterEach(async () => {
    for (const end of close) await end();
    close = [];
  });

  it('loads it, and reads on from its head', async () => {
    const { plants, reads, outcomes } = await startPlants(EVENTS);
    expect(await list(plants)).to.deep.equal(names(1, EVENTS));
    expect(reads).to.deep.equal([0, EVENTS]);
    expect(outcomes).to.deep.equal(['restored']);
  });

  it('continues a walk through its pages that another instance began', async () => {
    const [one, other] = [await startPlants(2), await startPlants(Infinity)];
    for (const id of [2, 3, 4, 5]) await one.plants.delete(alice, plantId(id));
    await until(() => one.outcomes.includes('saved'));
    const { next } = await one.plants.list(alice, { limit: 4 });
    await one.plants.delete(alice, plantId(7));
    const rest = await other.plants.list(alice, { after: next! });
    expect(rest.plants.map(({ name }) => name)).to.deep.equal(names(9, EVENTS));
    expect(other.outcomes).to.deep.equal(['restored']);
  });

  it('lists the same when it was removed as docs/operations.md shows', async () => {
    const [, command] = /```redis snapshot\n(.+)\n/.exec(readFileSync('docs/operations.md', 'utf8'))!;
    const [name, documented] = command!.split(' ') as [string, string];
    expect(
      await redis.admin.call(
        name,
        documented.replace(keyOf('alice', 'plant-store', 'snapshot'), key('snapshot')),
      ),
    ).to.equal(1);
    const { plants, reads, outcomes } = await startPlants(Infinity);
    expect(await list(plants)).to.deep.equal(names(1, EVENTS));
    expect(reads).to.have.length(EVENTS / 2);
    expect(outcomes).to.deep.equal([]);
  });

  it('replays the history if the key is of another type', async () => {
    await redis.admin.set(key('snapshot'), 'of another program');
    const { plants, outcomes } = await startPlants(Infinity);
    expect(await list(plants)).to.deep.equal(names(1, EVENTS));
    expect(outcomes).to.deep.equal(['failed']);
  });

  it('logs what it ignores without a name of a user or a plant, and counts it', async () => {
    await createWithTornSnapshot('alice');
    const instance = await startService('10');
    expect((await new HttpClient(instance.url).list()).names).to.have.length(600);
    await until(async () => (await countOf(instance, 'saved')) === 1);
    expect(await countsOf(instance)).to.deep.equal({ ignored: 1, restored: 0, failed: 0, saved: 1 });
    await instance.stop();

    const lines = instance.log.filter(({ msg }) => msg.includes('snapshot'));
    expect(lines).to.have.length(1);
    expect(lines[0]).to.include({ level: 40 });
    expect(JSON.stringify(lines)).not.to.match(/alice|Secret|plant 1/);
  });

  it('uses and saves none with SNAPSHOT_EVERY=0', async () => {
    const carol = await createWithTornSnapshot('carol');
    const instance = await startService('0');
    const [old, fresh] = [new HttpClient(instance.url, 'carol'), new HttpClient(instance.url, 'bob')];
    expect((await old.list()).names).to.have.length(600);
    await old.create(1, 'Fern');
    await fresh.create(1, 'Fern');
    expect(await countsOf(instance)).to.deep.equal({ ignored: 0, restored: 0, failed: 0, saved: 0 });
    await instance.stop();
    expect(await redis.admin.hget(key('snapshot', carol), 'version')).to.equal('550');
    expect(await redis.admin.keys(`${redis.prefix}:{20}:plants/bob:*`)).to.deep.equal([
      `${redis.prefix}:{20}:plants/bob:events`,
    ]);
  });

  /** A user of 600 events, which are more than a page, and of a snapshot at version 550 that cannot be used. */
  async function createWithTornSnapshot(name: string): Promise<User> {
    const user = parseUser(name)!;
    const { plants: writer } = await startPlants(Infinity);
    await create(writer, 100, 699, user);
    await redis.admin.hset(key('snapshot', user), {
      ...(await redis.admin.hgetall(key('snapshot'))),
      version: '550',
      0: '[[1,1,"Secret"',
    });
    return user;
  }

  async function startService(every: string): Promise<Instance> {
    const environment = { REDIS_URL: redis.url, REDIS_KEY_PREFIX: redis.prefix, SNAPSHOT_EVERY: every };
    const [instance] = (await startInstances(1, environment)) as [Instance];
    return instance;
  }

  /** The number of snapshots with this outcome, by the metrics. */
  const countOf = ({ url }: Instance, outcome: SnapshotOutcome) =>
    metricOf(url, `plant_store_snapshots_total{outcome="${outcome}"}`);

  async function countsOf(instance: Instance): Promise<Record<SnapshotOutcome, number>> {
    const count = (outcome: SnapshotOutcome) => countOf(instance, outcome);
    return {
      ignored: await count('ignored'),
      restored: await count('restored'),
      failed: await count('failed'),
      saved: await count('saved'),
    };
  }
});
