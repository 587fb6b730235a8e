/**
 * Two versions of the service on one store, as during an upgrade: the later one has a further
 * member of a plant.
 */
import { randomUUID } from 'node:crypto';
import { createRequire } from 'node:module';
import { expect } from 'chai';
import { MemoryEventStore } from '../../src/adapters/memory';
import * as application from '../../src/application';
import * as domain from '../../src/domain';
import { MemorySnapshots } from '../support/memory-snapshots';
import { settled } from '../event-sourcing/script';
import { ManualClock } from '../support/manual-clock';

interface Version {
  readonly domain: typeof domain;
  readonly application: typeof application;
}

const today: Version = { domain, application };

/** The modules of this version again, with an optional member `soil`. */
function withSoil(): Version {
  const load = createRequire(__filename);
  const loaded = { ...load.cache };
  const isOfVersion = (path: string) => /[\\/]src[\\/](?:domain|application)[\\/]/.test(path);
  for (const path of Object.keys(loaded).filter(isOfVersion))
    Reflect.deleteProperty(load.cache, path);
  const plant = load('../../src/domain/plant') as { MEMBERS: object; MEMBER_NAMES: string[] };
  Object.assign(plant.MEMBERS, {
    soil: { optional: true, minLength: 0, description: 'The soil it needs.' },
  });
  plant.MEMBER_NAMES.push('soil');
  const later = {
    domain: load('../../src/domain'),
    application: load('../../src/application'),
  } as Version;
  Object.assign(load.cache, loaded);
  return later;
}

describe('During an upgrade to a version that adds a member to plants', () => {
  const later = withSoil();
  const ada = application.parseUser('ada')!;
  const clock = new ManualClock();
  const snapshots = new MemorySnapshots();
  const store = new MemoryEventStore(10);

  /** A new instance, which has nothing in memory. */
  function started(version: Version) {
    const outcomes: string[] = [];
    const plants = new version.application.PlantStore({
      store,
      clock,
      mintCommit: randomUUID,
      observe: (event) => event.type === 'snapshot' && outcomes.push(event.outcome),
      snapshots: { store: snapshots, every: 20 },
    });
    return {
      outcomes,
      async create(from: number, count: number, members: object) {
        for (let id = from; id < from + count; id++) {
          const plant = version.domain.NewPlant.parse(String(id), { name: 'Fern', ...members });
          await plants.create(ada, plant as domain.NewPlant);
        }
        await settled();
      },
      async list() {
        const [{ page }] = await Promise.all([plants.list(ada), clock.pass(0).then(settled)]);
        return [...page] as (domain.Plant & { soil?: string })[];
      },
    };
  }
  const soils = (plants: readonly { soil?: string }[]) =>
    plants.filter(({ soil }) => soil === 'sand').length;

  it('an earlier instance neither lists plants without this member nor replaces their snapshot', async () => {
    const earlier = started(today);
    await earlier.create(1, 30, {});
    expect(earlier.outcomes).to.deep.equal(['saved']);

    const upgraded = started(later);
    expect(await upgraded.list()).to.have.length(30);
    expect(upgraded.outcomes, 'reads the snapshot of the earlier version').to.deep.equal([
      'restored',
    ]);
    await upgraded.create(101, 100, { soil: 'sand' });
    expect(upgraded.outcomes).to.include('saved');
    const saved = snapshots.kept.get('plants/ada');

    for (const instance of [earlier, started(today)]) {
      const outcome = await instance.list().catch((error: unknown) => (error as Error).name);
      expect(outcome).to.equal('UnreadableHistory');
    }
    expect(snapshots.kept.get('plants/ada')).to.equal(saved);

    const restarted = started(later);
    expect(soils(await restarted.list())).to.equal(100);
    expect(restarted.outcomes).to.deep.equal(['restored']);
  });
});
