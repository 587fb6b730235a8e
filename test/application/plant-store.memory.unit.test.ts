import { expect } from 'chai';
import { MemoryEventStore } from '../../src/adapters/memory/event-store';
import { PlantStore, type PlantStoreOptions, type User, parseUser } from '../../src/application';
import { StoreUnavailable } from '../../src/event-sourcing';
import type { PlantEvent } from '../../src/domain';
import { newPlant, plantId } from '../support/given';
import { ManualClock, untilIdle } from '../support/manual-clock';
import { ScriptedStore } from '../support/scripted-store';
import { PendingRequest, created } from '../event-sourcing/pending-request';

const [ADA, BOB, CLEO] = ['ada', 'bob', 'cleo'].map((name) => parseUser(name)!) as [User, User, User];
const KIB = 1024;
const MIB = 1024 * KIB;

/** A plant of about 64 KiB. */
const large = (id: number) => newPlant(id, 'x'.repeat(64 * KIB));
const largeEvents = (count: number): PlantEvent[] =>
  Array.from({ length: count }, (_, id) => created(id, 'x'.repeat(64 * KIB)));

function given(options: Partial<PlantStoreOptions> = {}) {
  const clock = new ManualClock();
  const store = new ScriptedStore(() => new MemoryEventStore<PlantEvent>(1));
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
  const create = (user: User, id: number) => new PendingRequest(plants.create(user, large(id)));
  const list = (user: User) => new PendingRequest(plants.list(user));
  return { clock, store, plants, tooLarge, create, list };
}

describe('The memory of a plant store', () => {
  it('is bounded in bytes: the least recently used users are evicted, and loaded again', async () => {
    const { plants, create, list } = given({ cacheMaxBytes: MIB });
    for (const user of [ADA, BOB, CLEO])
      for (let id = 0; id < 6; id++) {
        create(user, id);
        await untilIdle();
      }
    expect(plants.usage).to.include({ aggregates: 2, items: 12, evictions: 1 });
    expect(plants.usage.bytes).to.be.within(12 * 64 * KIB, MIB);

    const listed = list(ADA);
    await untilIdle();
    expect(listed.outcome).to.have.length(6);
    expect(plants.usage.bytes).to.be.at.most(MIB);
  });

  it('does not evict a history that is loading while no request waits for it', async () => {
    const { clock, store, plants, create, list } = given({ cacheMaxItems: 0 });
    await store.record(ADA, created(1, 'Fern'), created(2, 'Ivy'));
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

  it('serves two users alternately that do not fit together', async () => {
    const { store, list } = given({ cacheMaxBytes: MIB });
    for (const user of [ADA, BOB]) await store.record(user, ...largeEvents(12));
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
    for (const user of [ADA, BOB]) await store.record(user, ...largeEvents(12));
    const listed = [list(ADA), list(BOB)];
    await untilIdle();
    expect(listed.filter(({ outcome }) => Array.isArray(outcome))).to.have.length(1);
  });

  it('refuses a user whose plants exceed it, notifies once, and serves the others', async () => {
    const { clock, store, plants, tooLarge, create, list } = given({ cacheMaxBytes: MIB });
    await store.record(ADA, ...largeEvents(20));
    const refused = list(ADA);
    await untilIdle();
    expect(refused.error).to.be.instanceOf(StoreUnavailable);
    expect((refused.error as StoreUnavailable).retryAfterMs).to.be.at.least(1000);
    expect(plants.usage.items).to.equal(0);

    const reads = store.requests.length;
    const again = [list(ADA), create(ADA, 100)];
    const others = create(BOB, 1);
    await untilIdle();
    expect(again.map(({ outcome }) => outcome)).to.deep.equal(['StoreUnavailable', 'StoreUnavailable']);
    expect(others.outcome).to.equal('created');
    expect(store.requests.length, 'it is not loaded for each request').to.equal(reads + 1);
    expect(tooLarge).to.deep.equal([ADA]);

    await clock.pass(60_000);
    list(ADA);
    await untilIdle();
    expect(tooLarge).to.deep.equal([ADA, ADA]);
  });

  it('refuses a create that would exceed it before it is recorded; lists, deletes and reloads still work', async () => {
    const { clock, store, plants, tooLarge, create, list } = given({ cacheMaxBytes: MIB });
    const pending: PendingRequest[] = [];
    for (let id = 0; id < 40; id++) {
      pending.push(create(ADA, id));
      await untilIdle();
    }
    const acknowledged = pending.filter(({ outcome }) => outcome === 'created').length;
    expect(acknowledged).to.be.within(10, 15);
    expect(pending.at(-1)!.outcome).to.equal('StoreUnavailable');
    expect(await store.history(ADA)).to.have.length(acknowledged);
    expect(tooLarge).to.deep.equal([ADA]);

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
  it('are recorded in several appends if they are large', async () => {
    const { store, create } = given({ cacheMaxBytes: 64 * MIB });
    const pending = Array.from({ length: 40 }, (_, id) => create(ADA, id));
    await untilIdle();
    const appends = store.requests.filter(({ kind }) => kind === 'append').slice(1);
    expect(pending.every(({ outcome }) => outcome === 'created')).to.be.true;
    expect(appends.length).to.be.at.least(2);
    for (const { events } of appends) expect(events!.length).to.be.at.most(16);
  });

  it('are bounded in bytes over all users; beyond the limit they are refused at once', async () => {
    const { store, plants, create } = given({ cacheMaxBytes: 4 * MIB });
    store.held = true;
    const pending = Array.from({ length: 40 }, (_, id) => create(id % 2 === 0 ? ADA : BOB, id));
    await untilIdle();
    const refused = pending.filter(({ outcome }) => outcome === 'StoreUnavailable');
    expect(refused.length).to.be.within(24, 26);
    expect(plants.usage.commandBytes).to.be.within(900 * KIB, MIB);

    store.held = false;
    for (const call of [...store.calls]) await call.answer();
    await untilIdle();
    expect(plants.usage.commandBytes).to.equal(0);
  });
});

describe('An observer that throws', () => {
  it('neither fails nor hangs a request, for each of its methods', async () => {
    const throws = () => {
      throw new Error('observer');
    };
    const observer = {
      round: throws,
      appended: throws,
      conflict: throws,
      historyLost: throws,
      fault: throws,
      loaded: throws,
      loading: throws,
      tooLarge: throws,
    };
    const { store, create, list } = given({ observer });
    const first = create(ADA, 1);
    await untilIdle();
    await store.record(ADA, created(2, 'Ivy'));
    const second = create(ADA, 3);
    await untilIdle();
    await store.loseTail(ADA, 1);
    const third = list(ADA);
    await untilIdle();
    expect([first.outcome, second.outcome]).to.deep.equal(['created', 'created']);
    expect(third.outcome).to.have.length(1);
  });
});
