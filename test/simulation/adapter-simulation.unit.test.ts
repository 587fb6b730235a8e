import { expect } from 'chai';
import { BROKEN_STORES } from './broken-stores';
import { describeFailure, findFailingSeed, replaySchedule } from './explore';
import { type Move, SIMPLEST, type Schedule, adapterScheduleOf as schedules } from './schedule';
import { simulate } from './simulation';

const LONG = process.env['LONG'] !== undefined;
const SEED = Number(process.env['SEED'] ?? Date.now() % 2 ** 31);

/** Fails with the simplest schedule that violates a guarantee, if one of these seeds does. */
async function expectNoViolation(first: number, count: number): Promise<void> {
  const seed = await findFailingSeed(first, count, { schedules });
  if (seed !== undefined) throw new Error(await describeFailure(seed, { schedules }));
}

describe('Instances behind the Redis adapter over a simulated Redis', () => {
  it('violate no guarantee in the adapter schedules of fixed seeds', async () => {
    await expectNoViolation(1, LONG ? 5000 : 400);
  }).timeout(600_000);

  it(`violate no guarantee in the adapter schedules of fresh seeds, SEED=${SEED}`, async () => {
    await expectNoViolation(SEED, LONG ? 20_000 : 200);
  }).timeout(1_200_000);

  for (const [how, connect] of Object.entries(BROKEN_STORES))
    it(`are found to call a store that ${how}`, async () => {
      expect(await findFailingSeed(1, 3000, { connect, schedules })).to.be.a('number');
    });

  it('do the same each time that an adapter schedule is simulated', async () => {
    for (let seed = 1; seed <= 20; seed++)
      expect(await replaySchedule(schedules(seed))).to.deep.equal(await replaySchedule(schedules(seed)));
  });
});

describe('The Redis adapter in a simulation', () => {
  it('refuses an append in time whose script Redis does not know and whose connection stays blocked', async () => {
    const schedule: Schedule = {
      ...{ ...SIMPLEST, clockRates: [1, 1], replicas: 1, waitReplicas: 1 },
      adapter: { appendBounds: { appends: 100, bytes: 10_000 } },
      moves: [
        { type: 'slowDown', msPerCommand: 40 },
        ...[0, 3].map((nth): Move => ({
          type: 'send',
          nth,
          user: 0,
          request: { type: 'create', id: 1, name: '' },
        })),
        { type: 'pass', ms: 1000 },
      ],
    };
    const { requests } = await simulate(schedule);
    expect(requests.slice(0, 2).map(({ outcome }) => outcome)).to.deep.equal(
      Array(2).fill('StoreUnavailable'),
    );
    expect((await replaySchedule(schedule)).violations).to.deep.equal([]);
  });
});
