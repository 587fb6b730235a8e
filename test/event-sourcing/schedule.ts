import fc from 'fast-check';
import type { Command } from '../../src/domain';
import type { Request } from './pending-request';

// The moves of a simulation, as data: a schedule that violates a guarantee can be
// printed, repeated and shrunk.

/** What happens to a call in flight: the methods of Call, or `land`: a lost call is executed late. */
type CallAction = 'execute' | 'answer' | 'loseReply' | 'lose' | 'refuse' | 'hang' | 'failWithBug' | 'land';

/** How the store of snapshots behaves from now on. */
export type SnapshotState = (typeof SNAPSHOT_STATES)[number];

const SNAPSHOT_STATES = ['whole', 'whole', 'old', 'foreign', 'torn', 'unavailable', 'slow'] as const;

/** One step of a simulation. `nth` selects a call or an idle client; without any, the step has no effect. */
export type Move =
  | { readonly type: 'ask'; readonly nth: number; readonly user: number; readonly request: Request }
  | { readonly type: CallAction; readonly nth: number }
  | { readonly type: 'failover'; readonly keep: number }
  | { readonly type: 'snapshots'; readonly are: SnapshotState }
  | { readonly type: 'pass'; readonly ms: number };

export interface Schedule {
  readonly instances: number;
  readonly pageSize: number;
  readonly maxWaiting: number;
  readonly cacheMaxItems: number;
  readonly snapshotEvery: number;
  readonly moves: readonly Move[];
}

const nth = fc.nat({ max: 11 });
const id = fc.integer({ min: 1, max: 3 });
/** By the type of the command that it leads to, so that a new type cannot be forgotten. */
const writes: Readonly<Record<Command['type'], fc.WeightedArbitrary<Request>>> = {
  // The simulation assigns unique names, so that a list shows which requests took effect.
  CreatePlant: {
    weight: 2,
    arbitrary: fc.record({ type: fc.constant('create'), id, name: fc.constant('') }),
  },
  DeletePlant: { weight: 1, arbitrary: fc.record({ type: fc.constant('delete'), id }) },
};
const request = fc.oneof(...Object.values(writes), {
  weight: 1,
  arbitrary: fc.record({ type: fc.constant('list' as const) }),
});
const ask = fc.record({
  type: fc.constant('ask' as const),
  nth,
  user: fc.constantFrom(0, 0, 0, 0, 1),
  request,
});
const call = (...actions: CallAction[]) => fc.record({ type: fc.constantFrom(...actions), nth });
const pass = fc.record({ type: fc.constant('pass' as const), ms: fc.constantFrom(10, 30, 60, 100) });

/** Calls are slow and executed out of order, without faults: this makes races frequent. */
const calmMoves: fc.Arbitrary<Move> = fc.oneof(
  { weight: 4, arbitrary: ask },
  { weight: 3, arbitrary: call('answer') },
  { weight: 2, arbitrary: call('execute') },
  { weight: 1, arbitrary: pass },
);
const stormyMoves: fc.Arbitrary<Move> = fc.oneof(
  { weight: 8, arbitrary: calmMoves },
  { weight: 4, arbitrary: call('loseReply', 'lose', 'refuse', 'hang', 'failWithBug', 'land') },
  {
    weight: 1,
    arbitrary: fc.record({
      type: fc.constant('snapshots' as const),
      are: fc.constantFrom(...SNAPSHOT_STATES),
    }),
  },
);
const failingMoves: fc.Arbitrary<Move> = fc.oneof(
  { weight: 12, arbitrary: stormyMoves },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('failover' as const), keep: fc.nat({ max: 5 }) }) },
);

function schedule(...distributions: fc.Arbitrary<Move>[]): fc.Arbitrary<Schedule> {
  const moves = distributions.map((move) => fc.array(move, { minLength: 40, maxLength: 120, size: 'max' }));
  return fc.record({
    instances: fc.constantFrom(1, 2, 2, 3),
    pageSize: fc.constantFrom(1, 2, 1000),
    maxWaiting: fc.constantFrom(1, 100, 100, 100),
    cacheMaxItems: fc.constantFrom(0, 1000),
    snapshotEvery: fc.constantFrom(1, 3, Infinity),
    moves: fc.oneof(...moves),
  });
}

/** Schedules in which the store keeps acknowledged events. */
export const schedules = schedule(calmMoves, stormyMoves);

/** Schedules in which failovers lose the tail of acknowledged events. */
export const schedulesWithFailovers = schedule(failingMoves);
