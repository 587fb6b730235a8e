import net from 'node:net';
import timers from 'node:timers/promises';
import { expect } from 'chai';
import { seedsOf } from '../../mutants/mutants';
import { BROKEN_STORES } from './broken-stores';
import { describeFailure, findFailingSeed, replaySchedule } from './explore';
import { type Move, SIMPLEST, type Schedule, adapterScheduleOf as schedules } from './schedule';
import { simulate } from './simulation';

const LONG = process.env['LONG'] !== undefined;
/** Of the schedules that find the faults of test/mutants. */
const FINDING = seedsOf('adapter');
const SEED = Number(process.env['SEED'] ?? Date.now() % 2 ** 31);

/** Fails with the simplest schedule that violates a guarantee, if one of these seeds does. */
async function expectNoViolation(first: number, count: number): Promise<void> {
  const seed = await findFailingSeed(first, count, { schedules });
  if (seed !== undefined) throw new Error(await describeFailure(seed, { schedules }));
}

describe('Instances behind the Redis adapter over a simulated Redis', () => {
  it('violate no guarantee in the adapter schedules of fixed seeds', async () => {
    await expectNoViolation(1, LONG ? 5000 : 600);
    for (const seed of FINDING) await expectNoViolation(seed, 1);
  }).timeout(600_000);

  it(`violate no guarantee in the adapter schedules of fresh seeds, SEED=${SEED}`, async () => {
    await expectNoViolation(SEED, LONG ? 20_000 : 100);
  }).timeout(1_200_000);

  it('meet every reply of the scripts, every refusal of Redis and every loss of a connection', async () => {
    const met = new Set<string>();
    for (let seed = 1; seed <= 500; seed++)
      for (const line of (await replaySchedule(schedules(seed))).trace)
        for (const expected of MET) if (line.includes(expected)) met.add(expected);
    expect([...met]).to.have.members(MET);
  });

  it('do the same each time that an adapter schedule is simulated', async () => {
    for (let seed = 1; seed <= 20; seed++)
      expect(await replaySchedule(schedules(seed))).to.deep.equal(await replaySchedule(schedules(seed)));
  });
});

const MET = [
  ...['-> appended', '-> conflict', '-> reset', 'wait 1 80 -> 0', '80 -> 1', '80 -> 2'],
  ...[
    '-> NOSCRIPT',
    '-> OOM',
    '-> MISCONF',
    '-> READONLY',
    '-> loading:1',
    '-> UNBLOCKED',
    '-> replica',
    'xread COUNT',
    '-> MOVED',
    '-> ASK',
    '-> CLUSTERDOWN',
  ],
  ...['the connection to Redis was lost (', 'Socket timeout', 'connect ETIMEDOUT', 'ECONNREFUSED'],
  ...['Redis is connected', 'fewer replicas follow it', 'out of memory', 'resolved: '],
];

describe('The simulator of the Redis adapter', () => {
  for (const [how, connect] of Object.entries(BROKEN_STORES))
    it(`detects an adapter that ${how}`, async () => {
      expect(await findFailingSeed(1, 1000, { connect, schedules })).to.be.a('number');
    });

  it('leaves the timers and the connections of Node as they were', async () => {
    const replaced = () => [
      ...[setTimeout, setInterval, clearTimeout, clearInterval],
      ...[Math.random, performance.now, net.createConnection, timers.setTimeout],
    ];
    const before = replaced();
    await replaySchedule(schedules(1));
    expect(replaced()).to.deep.equal(before);
  });
});

describe('The Redis adapter in a simulation', () => {
  it('refuses an append in time whose script Redis does not know and whose connection stays blocked', async () => {
    const schedule: Schedule = {
      ...{ ...SIMPLEST, clockRates: [1, 1], replicas: 1, waitReplicas: 1 },
      adapter: { appendBounds: { appends: 100, bytes: 10_000 }, timerRate: 1, cluster: false },
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

  it('notifies subscribers after a failover although the old primary keeps its connections', async () => {
    const schedule: Schedule = {
      ...{ ...SIMPLEST, replicas: 1 },
      adapter: { appendBounds: { appends: 100, bytes: 10_000 }, timerRate: 1, cluster: false },
      moves: [
        { type: 'subscribe', nth: 0, user: 0, after: 0, pauseMs: 0 },
        // Until a blocking read has ended, and before the next one arrives.
        { type: 'pass', ms: 93 },
        { type: 'failOver', nth: 0 },
        { type: 'pass', ms: 1000 },
      ],
    };
    expect((await replaySchedule(schedule)).violations).to.deep.equal([]);
  });

  it('loads a history whose first events were archived through another instance', async () => {
    const schedule: Schedule = {
      ...{ ...SIMPLEST, clockRates: [1, 1], pastEvents: 5 },
      adapter: { appendBounds: { appends: 100, bytes: 10_000 }, timerRate: 1, cluster: false },
      moves: [
        { type: 'archive', nth: 0, user: 0, commits: 4 },
        { type: 'pass', ms: 100 },
        { type: 'trim', nth: 0, user: 0, events: 1 },
        { type: 'pass', ms: 100 },
        { type: 'send', nth: 3, user: 0, request: { type: 'list' } },
      ],
    };
    const { violations, trace } = await replaySchedule(schedule);
    expect(violations).to.deep.equal([]);
    expect(trace.some((line) => line.includes('READ') && line.includes('-> archived'))).to.equal(true);
  });
});
