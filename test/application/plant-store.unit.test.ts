import { expect } from 'chai';
import { MemoryEventStore } from '../../src/adapters/memory/event-store';
import { PlantStore, type PlantStoreOptions, type User, parseUser } from '../../src/application';
import { ManualClock, untilIdle } from '../support/manual-clock';
import { ScriptedStore } from '../support/scripted-store';
import { PendingRequest, plant, plantId } from '../event-sourcing/pending-request';

const ADA = parseUser('ada')!;
const BOB = parseUser('bob')!;
const CLEO = parseUser('cleo')!;

/** A plant store over a scripted store that answers at once, until it is held. */
function given(options: Partial<PlantStoreOptions> = {}) {
  const store = new ScriptedStore(() => new MemoryEventStore(2));
  store.held = false;
  let commits = 0;
  const plants = new PlantStore({
    store,
    clock: new ManualClock(),
    mintCommit: () => `commit-${++commits}`,
    timeoutMs: 1000,
    maxWaiting: 100,
    cacheMaxItems: 1000,
    ...options,
  });
  const create = (user: User, id: number, name: string) =>
    new PendingRequest(plants.create(user, plant(id, name)));
  const remove = (user: User, id: number) => new PendingRequest(plants.delete(user, plantId(id)));
  const list = (user: User) => new PendingRequest(plants.list(user));
  /** Whether the user's plants were read from the beginning. */
  const projectedAnew = async (user: User) => {
    store.requests.length = 0;
    list(user);
    await untilIdle();
    return store.requests[0]?.after.version === 0;
  };
  return { store, plants, create, remove, list, projectedAnew };
}

function held(store: PlantStore) {
  const { aggregates, items } = store.usage;
  return { aggregates, plants: items };
}

describe('A plant store', () => {});

describe('The cache of a plant store', () => {
  it('counts users and living plants', async () => {
    const { plants, create, remove } = given();
    create(ADA, 1, 'Fern');
    create(ADA, 2, 'Ivy');
    create(BOB, 1, 'Moss');
    await untilIdle();
    remove(ADA, 1);
    await untilIdle();

    expect(held(plants)).to.deep.equal({ aggregates: 2, plants: 2 });
  });

  it('evicts by the number of plants, not of users, and no more than needed', async () => {
    const { plants, create } = given({ cacheMaxItems: 40 });
    for (const user of [ADA, BOB]) create(user, 1, 'Fern');
    await untilIdle();
    for (let id = 1; id <= 18; id++) create(CLEO, id, `Moss ${id}`);
    await untilIdle();

    // 10 + 18 for Cleo and 10 + 1 for Bob are 39; with 11 more for Ada they would be 50.
    expect(held(plants)).to.deep.equal({ aggregates: 2, plants: 19 });
  });

  it('never evicts the most recently used user, for any number of plants', async () => {
    const { plants, create, projectedAnew } = given({ cacheMaxItems: 0 });
    create(ADA, 1, 'Fern');
    await untilIdle();

    expect(held(plants)).to.deep.equal({ aggregates: 1, plants: 1 });
    expect(await projectedAnew(ADA)).to.be.false;
  });

  it('never evicts a user with requests in flight: later requests use the same aggregate', async () => {
    const { store, plants, create, list } = given({ cacheMaxItems: 0 });
    store.held = true;
    create(ADA, 1, 'Fern');
    const adas = store.sole;
    list(BOB);
    await store.calls[1]!.answer();
    expect(held(plants).aggregates).to.equal(2);

    const second = create(ADA, 2, 'Ivy');
    expect(store.calls).to.deep.equal([adas]);
    await adas.answer();
    expect(store.sole.request.after.version).to.equal(1);
    await store.sole.answer();

    expect(second.outcome).to.equal('created');
  });
});
