import { expect } from 'chai';
import { MemoryEventStore } from '../../src/adapters/memory/event-store';
import {
  PlantStore,
  type PlantStoreOptions,
  type User,
  parseUser,
  plantCodec,
  plantListCodec,
  plantsOf,
} from '../../src/application';
import { type AggregateObserver, StoreUnavailable } from '../../src/event-sourcing';
import type { PlantEvent } from '../../src/domain';
import { created, deleted, encoded, newPlant, plantId } from '../support/given';
import { ManualClock, untilIdle } from '../support/manual-clock';
import { MemorySnapshots } from '../support/memory-snapshots';
import { ScriptedStore } from '../support/scripted-store';
import { PendingPlants } from '../support/pending-request';

const [ADA, BOB, CLEO] = ['ada', 'bob', 'cleo'].map((name) => parseUser(name)!) as [User, User, User];
const KIB = 1024;
const MIB = 1024 * KIB;

/** A plant of about 64 KiB. */
const large = (id: number) => newPlant(id, 'x'.repeat(64 * KIB));
const largeEvents = (count: number): PlantEvent[] =>
  Array.from({ length: count }, (_, id) => created(id, 'x'.repeat(64 * KIB)));

function given(options: Partial<PlantStoreOptions> = {}) {
  const clock = new ManualClock();
  const store = new ScriptedStore(plantCodec, () => new MemoryEventStore(1));
  store.held = false;
  const tooLarge: string[] = [];
  let commits = 0;
  const plants = new PlantStore({
    store,
    clock,
    mintCommit: () => `commit-${++commits}`,
    timeoutMs: 1000,
    observer: { tooLarge: (stream) => tooLarge.push(stream) },
    ...options,
  });
  const create = (user: User, id: number) => new PendingPlants(plants.create(user, large(id)));
  const list = (user: User) => new PendingPlants(plants.list(user));
  /** Creates plants with the ids from 0, each after the one before it. */
  const createInTurn = async (user: User, count: number): Promise<void> => {
    for (let id = 0; id < count; id++) {
      create(user, id);
      await untilIdle();
    }
  };
  return { clock, store, plants, tooLarge, create, list, createInTurn };
}

describe('The memory of a plant store', () => {
  it('is bounded in bytes: the least recently used users are evicted, and loaded again', async () => {
    const { plants, list, createInTurn } = given({ cacheMaxBytes: MIB });
    for (const user of [ADA, BOB, CLEO]) await createInTurn(user, 6);
    expect(plants.usage).to.include({ aggregates: 2, items: 12, evictions: 1 });
    expect(plants.usage.bytes).to.be.within(12 * 64 * KIB, MIB);

    const listed = list(ADA);
    await untilIdle();
    expect(listed.outcome).to.have.length(6);
    expect(plants.usage.bytes).to.be.at.most(MIB);
  });

  it('counts the requests that find their user there, and those that do not', async () => {
    const { plants, list, createInTurn } = given({ cacheMaxBytes: MIB });
    for (const user of [ADA, BOB, CLEO]) await createInTurn(user, 6);
    list(CLEO);
    list(ADA);
    list(ADA);
    await untilIdle();
    expect(plants.usage).to.include({ hits: 15 + 2, misses: 3 + 1 });
  });

  it('does not evict a history that is loading while no request waits for it', async () => {
    const { clock, store, plants, create, list } = given({ cacheMaxItems: 0 });
    await store.record(plantsOf(ADA), created(1, 'Fern'), created(2, 'Ivy'));
    store.held = true;
    const early = list(ADA);
    await store.sole.answer();
    await clock.pass(1000);
    expect(early.outcome).to.equal('StoreUnavailable');
    const secondPage = store.sole;
    store.held = false;
    create(BOB, 1);
    await untilIdle();
    await secondPage.answer();
    create(BOB, 2);
    await untilIdle();

    store.requests.length = 0;
    const later = list(ADA);
    await untilIdle();
    expect(later.outcome).to.deep.equal(['Fern', 'Ivy']);
    expect(
      store.requests.map(({ after }) => after.version),
      'not from the beginning',
    ).to.deep.equal([2]);
    expect(plants.usage.aggregates).to.equal(1);
  });

  it('keeps a history that was loaded after its request expired for ten seconds, for a retry', async () => {
    const { clock, store, plants, create, list } = given({ cacheMaxItems: 0 });
    await store.record(plantsOf(ADA), created(1, 'Fern'));
    store.held = true;
    list(ADA);
    await clock.pass(1000);
    const page = store.sole;
    store.held = false;
    create(BOB, 1);
    await untilIdle();
    await page.answer();

    await clock.pass(9999);
    create(BOB, 2);
    await untilIdle();
    expect(plants.usage.aggregates).to.equal(2);
    await clock.pass(1);
    create(BOB, 3);
    await untilIdle();
    expect(plants.usage.aggregates).to.equal(1);
  });

  it('serves two users alternately that do not fit together', async () => {
    const { store, list } = given({ cacheMaxBytes: MIB });
    for (const user of [ADA, BOB]) await store.record(plantsOf(user), ...largeEvents(12));
    for (let turn = 0; turn < 5; turn++) {
      for (const user of [ADA, BOB]) {
        const listed = list(user);
        await untilIdle();
        expect(listed.outcome).to.have.length(12);
      }
    }
  });

  it('serves one of two users that do not fit together, if both load at once', async () => {
    const { store, list } = given({ cacheMaxBytes: MIB });
    for (const user of [ADA, BOB]) await store.record(plantsOf(user), ...largeEvents(12));
    const listed = [list(ADA), list(BOB)];
    await untilIdle();
    expect(listed.filter(({ outcome }) => Array.isArray(outcome))).to.have.length(1);
    expect(listed.find(({ error }) => error)?.error).to.include({
      message: 'the memory is full of histories that are being loaded',
      reason: 'loading',
    });
  });

  it('refuses a user whose plants exceed it, notifies once, and serves the others', async () => {
    const { clock, store, plants, tooLarge, create, list } = given({ cacheMaxBytes: MIB });
    await store.record(plantsOf(ADA), ...largeEvents(20));
    const refused = list(ADA);
    await untilIdle();
    expect(refused.error).to.be.instanceOf(StoreUnavailable);
    expect((refused.error as StoreUnavailable).retryAfterMs).to.be.at.least(1000);
    expect(refused.error).to.include({
      message: 'the state of this stream takes more memory than this instance has for it',
      reason: 'state_size',
    });
    expect(plants.usage.items).to.equal(0);

    const reads = store.requests.length;
    const again = [list(ADA), create(ADA, 100)];
    const others = create(BOB, 1);
    await untilIdle();
    expect(again.map(({ outcome }) => outcome)).to.deep.equal(['StoreUnavailable', 'StoreUnavailable']);
    expect(others.outcome).to.equal('created');
    expect(store.requests.length, 'it is not loaded for each request').to.equal(reads + 1);
    expect(tooLarge).to.deep.equal([plantsOf(ADA)]);

    await clock.pass(60_000);
    list(ADA);
    await untilIdle();
    expect(tooLarge).to.deep.equal([plantsOf(ADA), plantsOf(ADA)]);
  });

  it('refuses a create that would exceed it before it is recorded; lists, deletes and reloads still work', async () => {
    const { clock, store, plants, tooLarge, create, list } = given({ cacheMaxBytes: MIB });
    const pending: PendingPlants[] = [];
    for (let id = 0; id < 40; id++) {
      pending.push(create(ADA, id));
      await untilIdle();
    }
    const acknowledged = pending.filter(({ outcome }) => outcome === 'created').length;
    // Thirteen of them fill less than seven eighths of the limit, and fourteen more.
    expect(acknowledged).to.equal(13);
    expect(pending.at(-1)!.outcome).to.equal('StoreUnavailable');
    expect(await store.history(plantsOf(ADA))).to.have.length(acknowledged);
    expect(tooLarge).to.deep.equal([plantsOf(ADA)]);

    const listed = list(ADA);
    await untilIdle();
    expect(listed.outcome).to.have.length(acknowledged);
    for (let id = 0; id < 5; id++) await plants.delete(ADA, plantId(id));
    await clock.pass(60_000);
    const room = create(ADA, 100);
    await untilIdle();
    expect(room.outcome).to.equal('created');

    const restarted = new PlantStore({ store, clock, mintCommit: () => 'commit', cacheMaxBytes: MIB });
    expect((await restarted.list(ADA)).plants).to.have.length(acknowledged - 4);
  });
});

describe('Waiting commands', () => {
  it('are counted in the longest queue and the largest round', async () => {
    const { store, plants, create, list } = given();
    store.held = true;
    create(ADA, 1);
    for (const user of [ADA, ADA, BOB]) list(user);
    expect(plants.usage).to.include({ mostWaiting: 2, maxWaiting: 1024 });
    expect(plants.usage.roundBytes).to.be.within(64 * KIB, 65 * KIB);

    store.held = false;
    for (const call of [...store.calls]) await call.answer();
    await untilIdle();
    expect(plants.usage).to.include({ mostWaiting: 0, roundBytes: 0 });
  });

  it('are recorded in several appends if they are large', async () => {
    const { store, create } = given({ cacheMaxBytes: 64 * MIB });
    const pending = Array.from({ length: 40 }, (_, id) => create(ADA, id));
    await untilIdle();
    const appends = store.requests.filter(({ kind }) => kind === 'append').slice(1);
    expect(pending.every(({ outcome }) => outcome === 'created')).to.be.true;
    expect(appends.length).to.be.at.least(2);
    for (const { events } of appends) expect(events!.length).to.be.at.most(16);
  });

  it('are recorded in an append of their own if they are larger than a round', async () => {
    const { store, plants } = given({ cacheMaxBytes: 64 * MIB });
    const pending = [1, 2].map(
      (id) => new PendingPlants(plants.create(ADA, newPlant(id, 'n'.repeat(2 * MIB)))),
    );
    await untilIdle();
    expect(pending.map(({ outcome }) => outcome)).to.deep.equal(['created', 'created']);
    const appends = store.requests.filter(({ kind }) => kind === 'append');
    expect(appends.at(-1)!.events).to.have.length(1);
  });

  it('leave room for others when they have expired', async () => {
    const { clock, store, plants, create, createInTurn } = given({ cacheMaxBytes: MIB });
    await createInTurn(ADA, 11);
    store.held = true;
    // One in the round, and two that wait. There is room for thirteen plants.
    const late = [11, 12, 13].map((id) => create(ADA, id));
    await clock.pass(1000);
    expect(late.map(({ outcome }) => outcome)).to.deep.equal([
      'OutcomeUnknown',
      'StoreUnavailable',
      'StoreUnavailable',
    ]);
    expect(plants.usage.commandBytes).to.equal(0);

    store.held = false;
    const next = create(ADA, 14);
    await untilIdle();
    expect(next.outcome).to.equal('created');
  });

  it('are bounded in bytes over all users; beyond the limit they are refused at once', async () => {
    const { store, plants, create } = given({ cacheMaxBytes: 4 * MIB });
    store.held = true;
    const pending = Array.from({ length: 40 }, (_, id) => create(id % 2 === 0 ? ADA : BOB, id));
    await untilIdle();
    const refused = pending.filter(({ outcome }) => outcome === 'StoreUnavailable');
    expect(refused.length).to.be.within(24, 26);
    for (const { error } of refused)
      expect(error).to.include({
        message: 'the commands that are waiting for the event store take too much memory',
        reason: 'waiting_commands',
      });
    expect(plants.usage.commandBytes).to.be.within(900 * KIB, MIB);

    store.held = false;
    for (const call of [...store.calls]) await call.answer();
    await untilIdle();
    expect(plants.usage.commandBytes).to.equal(0);
  });
});

describe('An observer that throws', () => {
  it('neither fails nor hangs a request, for each of its methods', async () => {
    const called = new Set<string>();
    const throwing = (name: keyof AggregateObserver) => () => {
      called.add(name);
      throw new Error('observer');
    };
    const observer: Required<AggregateObserver> = {
      round: throwing('round'),
      appended: throwing('appended'),
      conflict: throwing('conflict'),
      historyLost: throwing('historyLost'),
      fault: throwing('fault'),
      loaded: throwing('loaded'),
      loading: throwing('loading'),
      snapshot: throwing('snapshot'),
      tooLarge: throwing('tooLarge'),
    };
    const snapshots = { store: new MemorySnapshots(), codec: plantListCodec, every: 1 };
    const { store, create, list } = given({ observer, snapshots, cacheMaxBytes: MIB });
    const first = create(ADA, 1);
    await untilIdle();
    await store.record(plantsOf(ADA), created(2, 'Ivy'));
    const second = create(ADA, 3);
    await untilIdle();
    await store.loseTail(plantsOf(ADA), 1);
    const third = list(ADA);
    await untilIdle();
    expect([first.outcome, second.outcome]).to.deep.equal(['created', 'created']);
    expect(third.outcome).to.have.length(1);

    store.held = true;
    const failed = list(ADA);
    await store.sole.failWithBug();
    expect(failed.outcome).to.equal('TypeError');
    const long = list(BOB);
    const events = Array.from({ length: 100_000 }, (_, index) => {
      const event = index % 2 === 0 ? created(1, 'Fern') : deleted(1);
      return { version: index + 1, commit: 'a commit', ...encoded(event)[0]! };
    });
    await store.sole.answerWith({ status: 'read', events, more: false });
    expect(long.outcome).to.deep.equal([]);
    store.held = false;
    await store.record(plantsOf(CLEO), ...largeEvents(20));
    const tooLarge = list(CLEO);
    while (tooLarge.outcome === 'pending') await untilIdle();
    expect(tooLarge.outcome).to.equal('StoreUnavailable');
    expect([...called]).to.have.members(Object.keys(observer));
  });
});
