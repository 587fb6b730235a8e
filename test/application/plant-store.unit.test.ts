import { expect } from 'chai';
import { MemoryEventStore } from '../../src/adapters/memory/event-store';
import { PlantStore, type PlantStoreOptions, type User, parseUser } from '../../src/application';
import { ManualClock, quiet } from '../support/manual-clock';
import { ScriptedStore } from '../support/scripted-store';
import { Asked, created, plant, plantId } from './asking';

const ADA = parseUser('ada')!;
const BOB = parseUser('bob')!;
const CLEO = parseUser('cleo')!;

/** A service whose store answers at once, until it is held. */
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
    cacheMaxPlants: 1000,
    ...options,
  });
  const create = (user: User, id: number, name: string) => new Asked(plants.create(user, plant(id, name)));
  const remove = (user: User, id: number) => new Asked(plants.delete(user, plantId(id)));
  const list = (user: User) => new Asked(plants.list(user));
  /** Whether the user's plants had to be read from the beginning. */
  const projectedAnew = async (user: User) => {
    store.questions.length = 0;
    list(user);
    await quiet();
    return store.questions[0]?.after.version === 0;
  };
  return { store, plants, create, remove, list, projectedAnew };
}

function held(store: PlantStore) {
  const { collections, plants } = store.usage;
  return { collections, plants };
}

describe('A plant store', () => {
  it('creates, lists and deletes', async () => {
    const { create, remove, list } = given();
    const fern = create(ADA, 1, 'Fern');
    const ivy = create(ADA, 2, 'Ivy');
    const again = create(ADA, 2, 'Moss');
    await quiet();
    const removed = remove(ADA, 1);
    const missing = remove(ADA, 3);
    await quiet();
    const listed = list(ADA);
    await quiet();

    expect([fern, ivy, again].map(({ outcome }) => outcome)).to.deep.equal([
      'created',
      'created',
      'id-taken',
    ]);
    expect([removed, missing].map(({ outcome }) => outcome)).to.deep.equal(['deleted', 'no-such-plant']);
    expect(listed.outcome).to.deep.equal(['Ivy']);
  });

  it('lists as much as was asked for, and from there on', async () => {
    const { plants, create } = given();
    for (const [index, name] of ['Fern', 'Ivy', 'Moss'].entries()) create(ADA, index, name);
    await quiet();

    const first = await plants.list(ADA, { limit: 2, after: 0 });
    const rest = await plants.list(ADA, { limit: 2, after: first.next! });

    expect(first.plants).to.deep.equal([{ name: 'Fern' }, { name: 'Ivy' }]);
    expect(rest).to.deep.include({ plants: [{ name: 'Moss' }], next: undefined });
  });

  it('keeps the plants of each user in a stream of their own', async () => {
    const { store, create, remove, list } = given();
    const [adas, bobs] = [create(ADA, 1, 'Fern'), create(BOB, 1, 'Ivy')];
    await quiet();
    const removed = remove(BOB, 1);
    await quiet();
    const lists = [list(ADA), list(BOB)];
    await quiet();

    expect([adas, bobs, removed].map(({ outcome }) => outcome)).to.deep.equal([
      'created',
      'created',
      'deleted',
    ]);
    expect(lists.map(({ outcome }) => outcome)).to.deep.equal([['Fern'], []]);
    expect(await store.history(ADA)).to.have.length(1);
  });

  it('serves one user while another one’s round hangs', async () => {
    const { store, list } = given();
    store.held = true;
    const adas = list(ADA);
    store.sole.hang();
    const bobs = list(BOB);
    await store.sole.answer();

    expect([adas.outcome, bobs.outcome]).to.deep.equal(['pending', []]);
  });

  it('puts the concurrent requests of one user into one round, through whichever use case they came', async () => {
    const { store, create, remove, list } = given();
    store.held = true;
    list(ADA);
    create(ADA, 1, 'Fern');
    remove(ADA, 1);
    list(ADA);
    await store.sole.answer();

    expect(store.sole.question.events).to.have.length(2);
  });

  it('passes on what went wrong', async () => {
    const { store, list } = given();
    store.held = true;
    const listed = list(ADA);
    await store.sole.refuse();

    expect(listed.outcome).to.equal('StoreUnavailable');
  });
});

describe('What a plant store holds in memory', () => {
  it('is counted: the users and their living plants', async () => {
    const { plants, create, remove } = given();
    create(ADA, 1, 'Fern');
    create(ADA, 2, 'Ivy');
    create(BOB, 1, 'Moss');
    await quiet();
    remove(ADA, 1);
    await quiet();

    expect(held(plants)).to.deep.equal({ collections: 2, plants: 2 });
  });

  it('is counted right after a failure, too', async () => {
    const { store, plants, list } = given();
    await store.record(ADA, created(1, 'Fern'), created(2, 'Ivy'), created(3, 'Moss'));
    store.held = true;
    list(ADA);
    await store.sole.answer();
    await store.sole.refuse();

    expect(held(plants)).to.deep.equal({ collections: 1, plants: 2 });
  });

  // A collection weighs as much as 10 plants, so 22 is room for two collections with two plants in all.
  const ROOM_FOR_TWO = { cacheMaxPlants: 22 };

  it('stays while there is room', async () => {
    const { plants, create, projectedAnew } = given(ROOM_FOR_TWO);
    create(ADA, 1, 'Fern');
    create(BOB, 1, 'Ivy');
    await quiet();

    expect(held(plants)).to.deep.equal({ collections: 2, plants: 2 });
    expect(await projectedAnew(ADA)).to.be.false;
  });

  it('loses the least recently used user first', async () => {
    const { create, list, projectedAnew } = given(ROOM_FOR_TWO);
    create(ADA, 1, 'Fern');
    await quiet();
    create(BOB, 1, 'Ivy');
    await quiet();
    list(ADA);
    await quiet();
    list(CLEO);
    await quiet();

    expect(await projectedAnew(ADA)).to.be.false;
    expect(await projectedAnew(BOB)).to.be.true;
  });

  it('shrinks to its bound by plants, not by users, and no further', async () => {
    const { plants, create } = given({ cacheMaxPlants: 40 });
    for (const user of [ADA, BOB]) create(user, 1, 'Fern');
    await quiet();
    for (let id = 1; id <= 18; id++) create(CLEO, id, `Moss ${id}`);
    await quiet();

    // 10 + 18 for Cleo and 10 + 1 for Bob are 39; with 11 more for Ada they would be 50.
    expect(held(plants)).to.deep.equal({ collections: 2, plants: 19 });
  });

  it('always keeps the user who was served last, however many plants that are', async () => {
    const { plants, create, projectedAnew } = given({ cacheMaxPlants: 0 });
    create(ADA, 1, 'Fern');
    await quiet();

    expect(held(plants)).to.deep.equal({ collections: 1, plants: 1 });
    expect(await projectedAnew(ADA)).to.be.false;
  });

  it('comes back from the events when it was let go', async () => {
    const { plants, create, list } = given({ cacheMaxPlants: 0 });
    create(ADA, 1, 'Fern');
    create(ADA, 2, 'Ivy');
    create(ADA, 3, 'Moss');
    await quiet();
    list(BOB);
    await quiet();
    expect(held(plants)).to.deep.equal({ collections: 1, plants: 0 });

    const listed = list(ADA);
    await quiet();

    expect(listed.outcome).to.deep.equal(['Fern', 'Ivy', 'Moss']);
    expect(held(plants)).to.deep.equal({ collections: 1, plants: 3 });
  });

  it('is never let go while requests are under way: those that come meanwhile meet the same collection', async () => {
    const { store, plants, create, list } = given({ cacheMaxPlants: 0 });
    store.held = true;
    create(ADA, 1, 'Fern');
    const adas = store.sole;
    list(BOB);
    await store.calls[1]!.answer();
    expect(held(plants).collections).to.equal(2);

    const second = create(ADA, 2, 'Ivy');
    expect(store.calls).to.deep.equal([adas]);
    await adas.answer();
    expect(store.sole.question.after.version).to.equal(1);
    await store.sole.answer();

    expect(second.outcome).to.equal('created');
  });

  it('is let go with its last answer, where others were served since', async () => {
    const { store, plants, create, list } = given({ cacheMaxPlants: 0 });
    store.held = true;
    create(ADA, 1, 'Fern');
    const adas = store.sole;
    list(BOB);
    await store.calls[1]!.answer();
    await adas.answer();

    expect(held(plants)).to.deep.equal({ collections: 1, plants: 0 });
  });

  it('is not let go for a request that failed while another one is under way', async () => {
    const { store, plants, list } = given({ cacheMaxPlants: 0 });
    store.held = true;
    list(ADA);
    list(ADA);
    await store.sole.refuse();
    list(BOB);
    await store.calls[1]!.answer();

    expect(held(plants).collections).to.equal(2);
  });

  it('can be let go again once nothing is under way, also after failures', async () => {
    const { store, plants, list } = given({ cacheMaxPlants: 0 });
    store.held = true;
    list(ADA);
    await store.sole.refuse();
    list(BOB);
    await store.sole.answer();

    expect(held(plants).collections).to.equal(1);
  });
});
