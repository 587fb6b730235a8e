import { expect } from 'chai';
import type { EventStore } from '../../../src/event-sourcing';
import { type PlantRequest, WRITES } from '../../support/plant-requests';
import { seedsOf } from '../../mutants/mutants';
import { describeFailure, findFailingSeed, replaySchedule } from './explore';
import { type Move, SIMPLEST, type Schedule, feedScheduleOf, scheduleOf } from './schedule';
import { shrink } from './shrink';
import { simulate } from './simulation';
import { findViolations } from './violations';

const LONG = process.env['LONG'] !== undefined;
/** Of the schedules that find the faults of test/mutants. */
const FINDING = { engine: seedsOf('engine'), feed: seedsOf('feed') };
const SEED = Number(process.env['SEED'] ?? Date.now() % 2 ** 31);

/** Fails with the simplest schedule that violates a guarantee, if one of these seeds does. */
async function expectNoViolation(first: number, count: number, schedules = scheduleOf): Promise<void> {
  const seed = await findFailingSeed(first, count, { schedules });
  if (seed !== undefined) throw new Error(await describeFailure(seed, { schedules }));
}

describe('Instances of the engine over a simulated Redis', () => {
  it('violate no guarantee in the schedules of fixed seeds', async () => {
    await expectNoViolation(1, LONG ? 20_000 : 1500);
    for (const seed of FINDING.engine) await expectNoViolation(seed, 1);
  }).timeout(600_000);

  it(`violate no guarantee in the schedules of fresh seeds, SEED=${SEED}`, async () => {
    await expectNoViolation(SEED, LONG ? 100_000 : 1000);
  }).timeout(1_200_000);

  it('give every answer, lose events, meet archived events and every kind of snapshot', async () => {
    const met = new Set<string>();
    const seen = <T extends { readonly status: string }>(result: T): T => {
      if (result.status === 'archived') met.add('archived events');
      return result;
    };
    const connect = (store: EventStore): EventStore => ({
      read: (...args) => store.read(...args).then(seen),
      append: (...args) => store.append(...args).then(seen),
    });
    for (let seed = 1; seed <= 500; seed++) {
      const { requests, snapshots, lost, subscribers } = await simulate(scheduleOf(seed), { connect });
      for (const { outcome } of requests) met.add(typeof outcome === 'string' ? outcome : 'a list');
      for (const outcome of snapshots) met.add(outcome);
      if (lost.size > 0) met.add('lost events');
      for (const subscriber of subscribers) for (const ending of subscriber.endings) met.add(ending);
    }
    const answers = Object.values(WRITES).flatMap(({ acknowledged, rejected }) => [acknowledged, rejected]);
    expect([...met]).to.have.members([
      'a list',
      ...new Set(answers),
      ...['StoreUnavailable', 'OutcomeUnknown', 'TypeError', 'died', 'lost events'],
      ...['restored', 'saved', 'failed', 'ignored', 'archived events'],
      ...['HistoryChanged', 'ArchivedHistory', 'a dead process', 'the client'],
    ]);
  });

  it('follow a stream on although the reply to a read is lost without a fault', async () => {
    const schedule: Schedule = {
      ...SIMPLEST,
      moves: [
        { type: 'subscribe', nth: 0, user: 0, after: 0, pauseMs: 0 },
        { type: 'hang', nth: 0 },
      ],
    };
    const { subscribers, problems } = await simulate(schedule);
    expect(subscribers.map(({ isCurrent }) => isCurrent)).to.deep.equal([true]);
    expect(problems).to.deep.equal([]);
  });

  it('evict what does not fit into the memory as soon as its snapshot is saved', async () => {
    const send = (nth: number, user: number, request: PlantRequest): Move => ({
      type: 'send',
      nth,
      user,
      request,
    });
    const schedule: Schedule = {
      ...{ ...SIMPLEST, clockRates: [1, 1, 1], cacheMaxBytes: 4750, snapshotEvery: 1 },
      moves: [
        send(3, 0, { type: 'delete', id: 2 }),
        send(0, 1, { type: 'delete', id: 3 }),
        send(3, 0, { type: 'list' }),
        { type: 'answer', nth: 9 },
        send(0, 0, { type: 'create', id: 3, name: '' }),
        send(10, 1, { type: 'create', id: 2, name: '' }),
        send(10, 0, { type: 'create', id: 2, name: '' }),
      ],
    };
    expect((await simulate(schedule)).problems).to.deep.equal([]);
  });

  it('behave the same each time that a seed is simulated', async () => {
    for (let seed = 1; seed <= 50; seed++)
      expect(await replaySchedule(scheduleOf(seed))).to.deep.equal(await replaySchedule(scheduleOf(seed)));
  });
});

describe('Projections over a simulated Redis', () => {
  it('skip nothing, apply nothing twice and report each lost tail in the schedules of fixed seeds', async () => {
    await expectNoViolation(1, LONG ? 20_000 : 500, feedScheduleOf);
    for (const seed of FINDING.feed) await expectNoViolation(seed, 1, feedScheduleOf);
  }).timeout(600_000);

  it(`skip nothing, apply nothing twice and report each lost tail in those of fresh seeds, SEED=${SEED}`, async () => {
    await expectNoViolation(SEED, LONG ? 100_000 : 500, feedScheduleOf);
  }).timeout(1_200_000);
});

describe('The simulator', () => {
  it('shrinks a failing schedule to a few moves, and prints what replays it', async () => {
    let commits = 0;
    // It does not recognize an append that it has recorded.
    const connect = (store: EventStore): EventStore => ({
      read: store.read.bind(store),
      append: (stream, expected, commit, events) =>
        store.append(stream, expected, `${commit}, sent ${++commits} times`, events),
    });
    const seed = (await findFailingSeed(1, 3000, { connect }))!;
    const fails = async (schedule: Schedule) =>
      findViolations(await simulate(schedule, { connect })).length > 0;

    const shrunk = await shrink(scheduleOf(seed), fails);

    expect(shrunk.moves.length).to.be.below(7);
    expect(await fails(shrunk)).to.equal(true);
    expect(await describeFailure(seed, { connect })).to.include(JSON.stringify(shrunk.moves[0]));
  });
});
