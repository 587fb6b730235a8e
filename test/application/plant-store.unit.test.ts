import type { PlantEvent } from '../../src/domain';
import { expect } from 'chai';
import { MemoryEventStore } from '../../src/adapters/memory/event-store';
import { PlantStore, type PlantStoreOptions, type User, parseUser } from '../../src/application';
import { ManualClock, untilIdle } from '../support/manual-clock';
import { ScriptedStore } from '../support/scripted-store';
import { PendingRequest, created, plant, plantId } from '../event-sourcing/pending-request';

const ADA = parseUser('ada')!;
const BOB = parseUser('bob')!;
const CLEO = parseUser('cleo')!;

/** A plant store over a scripted store that answers at once, until it is held. */
function given(options: Partial<PlantStoreOptions> = {}) {
  const store = new ScriptedStore(() => new MemoryEventStore<PlantEvent>(2));
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

describe('A plant store', () => {
  it('creates, lists and deletes', async () => {
    const { create, remove, list } = given();
    const fern = create(ADA, 1, 'Fern');
    const ivy = create(ADA, 2, 'Ivy');
    const again = create(ADA, 2, 'Moss');
    await untilIdle();
    const removed = remove(ADA, 1);
    const missing = remove(ADA, 3);
    await untilIdle();
    const listed = list(ADA);
    await untilIdle();

    expect([fern, ivy, again].map(({ outcome }) => outcome)).to.deep.equal([
      'created',
      'created',
      'id-taken',
    ]);
    expect([removed, missing].map(({ outcome }) => outcome)).to.deep.equal(['deleted', 'no-such-plant']);
    expect(listed.outcome).to.deep.equal(['Ivy']);
  });

  it('lists up to the limit, after the given position', async () => {
    const { plants, create } = given();
    for (const [index, name] of ['Fern', 'Ivy', 'Moss'].entries()) create(ADA, index, name);
    await untilIdle();

    const first = await plants.list(ADA, { limit: 2, after: 0 });
    const rest = await plants.list(ADA, { limit: 2, after: first.next! });

    expect(first.plants).to.deep.equal([{ name: 'Fern' }, { name: 'Ivy' }]);
    expect(rest).to.deep.include({ plants: [{ name: 'Moss' }], next: undefined });
  });

  it('stores the plants of each user in a separate stream', async () => {
    const { store, create, remove, list } = given();
    const [adas, bobs] = [create(ADA, 1, 'Fern'), create(BOB, 1, 'Ivy')];
    await untilIdle();
    const removed = remove(BOB, 1);
    await untilIdle();
    const lists = [list(ADA), list(BOB)];
    await untilIdle();

    expect([adas, bobs, removed].map(({ outcome }) => outcome)).to.deep.equal([
      'created',
      'created',
      'deleted',
    ]);
    expect(lists.map(({ outcome }) => outcome)).to.deep.equal([['Fern'], []]);
    expect(await store.history(ADA)).to.have.length(1);
  });

  it('serves a user while the round of another user hangs', async () => {
    const { store, list } = given();
    store.held = true;
    const adas = list(ADA);
    store.sole.hang();
    const bobs = list(BOB);
    await store.sole.answer();

    expect([adas.outcome, bobs.outcome]).to.deep.equal(['pending', []]);
  });

  it('batches the concurrent requests of one user in one round, across use cases', async () => {
    const { store, create, remove, list } = given();
    store.held = true;
    list(ADA);
    create(ADA, 1, 'Fern');
    remove(ADA, 1);
    list(ADA);
    await store.sole.answer();

    expect(store.sole.request.events).to.have.length(2);
  });

  it('rejects with the errors of the store', async () => {
    const { store, list } = given();
    store.held = true;
    const listed = list(ADA);
    await store.sole.refuse();

    expect(listed.outcome).to.equal('StoreUnavailable');
  });
});

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

  it('counts correctly after a failure', async () => {
    const { store, plants, list } = given();
    await store.record(ADA, created(1, 'Fern'), created(2, 'Ivy'), created(3, 'Moss'));
    store.held = true;
    list(ADA);
    await store.sole.answer();
    await store.sole.refuse();

    expect(held(plants)).to.deep.equal({ aggregates: 1, plants: 2 });
  });

  // A user costs as much as 10 plants, so 22 is room for two users with two plants in total.
  const ROOM_FOR_TWO = { cacheMaxItems: 22 };

  it('evicts no user while there is room', async () => {
    const { plants, create, projectedAnew } = given(ROOM_FOR_TWO);
    create(ADA, 1, 'Fern');
    create(BOB, 1, 'Ivy');
    await untilIdle();

    expect(held(plants)).to.deep.equal({ aggregates: 2, plants: 2 });
    expect(await projectedAnew(ADA)).to.be.false;
  });

  it('evicts the least recently used user first', async () => {
    const { create, list, projectedAnew } = given(ROOM_FOR_TWO);
    create(ADA, 1, 'Fern');
    await untilIdle();
    create(BOB, 1, 'Ivy');
    await untilIdle();
    list(ADA);
    await untilIdle();
    list(CLEO);
    await untilIdle();

    expect(await projectedAnew(ADA)).to.be.false;
    expect(await projectedAnew(BOB)).to.be.true;
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

  it('loads an evicted user again from the events', async () => {
    const { plants, create, list } = given({ cacheMaxItems: 0 });
    create(ADA, 1, 'Fern');
    create(ADA, 2, 'Ivy');
    create(ADA, 3, 'Moss');
    await untilIdle();
    list(BOB);
    await untilIdle();
    expect(held(plants)).to.deep.equal({ aggregates: 1, plants: 0 });

    const listed = list(ADA);
    await untilIdle();

    expect(listed.outcome).to.deep.equal(['Fern', 'Ivy', 'Moss']);
    expect(held(plants)).to.deep.equal({ aggregates: 1, plants: 3 });
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

  it('evicts a user with its last answer, if others were used since', async () => {
    const { store, plants, create, list } = given({ cacheMaxItems: 0 });
    store.held = true;
    create(ADA, 1, 'Fern');
    const adas = store.sole;
    list(BOB);
    await store.calls[1]!.answer();
    await adas.answer();

    expect(held(plants)).to.deep.equal({ aggregates: 1, plants: 0 });
  });

  it('does not evict a user after a failed request while another one is in flight', async () => {
    const { store, plants, list } = given({ cacheMaxItems: 0 });
    store.held = true;
    list(ADA);
    list(ADA);
    await store.sole.refuse();
    list(BOB);
    await store.calls[1]!.answer();

    expect(held(plants).aggregates).to.equal(2);
  });

  it('evicts a user again when no request is in flight, also after failures', async () => {
    const { store, plants, list } = given({ cacheMaxItems: 0 });
    store.held = true;
    list(ADA);
    await store.sole.refuse();
    list(BOB);
    await store.sole.answer();

    expect(held(plants).aggregates).to.equal(1);
  });
});
