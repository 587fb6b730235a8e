import fc from 'fast-check';
import type { Wish } from './asking';

// What can happen to a service and its clients, as data: so that a schedule
// that breaks a promise can be printed, repeated and made smaller.

/** What can become of a call on its way: the names of Call's methods; `land` is a lost one carried out late. */
type Fate = 'execute' | 'answer' | 'loseReply' | 'lose' | 'refuse' | 'hang' | 'stumble' | 'land';

/** One thing that happens. `nth` picks among those that it can happen to; where there are none, nothing does. */
export type Move =
  | { readonly type: 'ask'; readonly nth: number; readonly user: number; readonly wish: Wish }
  | { readonly type: Fate; readonly nth: number }
  | { readonly type: 'failover'; readonly keep: number }
  | { readonly type: 'pass'; readonly ms: number };

export interface Schedule {
  readonly instances: number;
  readonly pageSize: number;
  readonly maxWaiting: number;
  readonly cacheMaxPlants: number;
  readonly moves: readonly Move[];
}

const nth = fc.nat({ max: 11 });
const id = fc.integer({ min: 1, max: 3 });
const wish: fc.Arbitrary<Wish> = fc.oneof(
  // The name is given when it is asked: no two plants have the same, so a list tells which requests took effect.
  { weight: 2, arbitrary: fc.record({ type: fc.constant('create' as const), id, name: fc.constant('') }) },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('delete' as const), id }) },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('list' as const) }) },
);
const ask = fc.record({ type: fc.constant('ask' as const), nth, user: fc.constantFrom(0, 0, 0, 0, 1), wish });
const call = (...fates: Fate[]) => fc.record({ type: fc.constantFrom(...fates), nth });
const pass = fc.record({ type: fc.constant('pass' as const), ms: fc.constantFrom(10, 30, 60, 100) });

/** Calls are slow and overtake one another, no more: what it takes for a race is met often. */
const calm: fc.Arbitrary<Move> = fc.oneof(
  { weight: 4, arbitrary: ask },
  { weight: 3, arbitrary: call('answer') },
  { weight: 2, arbitrary: call('execute') },
  { weight: 1, arbitrary: pass },
);
const stormy: fc.Arbitrary<Move> = fc.oneof(
  { weight: 2, arbitrary: calm },
  { weight: 1, arbitrary: call('loseReply', 'lose', 'refuse', 'hang', 'stumble', 'land') },
);
const failing: fc.Arbitrary<Move> = fc.oneof(
  { weight: 12, arbitrary: stormy },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('failover' as const), keep: fc.nat({ max: 5 }) }) },
);

function schedule(...weathers: fc.Arbitrary<Move>[]): fc.Arbitrary<Schedule> {
  const moves = weathers.map((move) => fc.array(move, { minLength: 40, maxLength: 120, size: 'max' }));
  return fc.record({
    instances: fc.constantFrom(1, 2, 2, 3),
    pageSize: fc.constantFrom(1, 2, 1000),
    maxWaiting: fc.constantFrom(1, 100, 100, 100),
    cacheMaxPlants: fc.constantFrom(0, 1000),
    moves: fc.oneof(...moves),
  });
}

/** The store keeps what it has acknowledged. */
export const schedules = schedule(calm, stormy);

/** Now and then it loses the tail of what it acknowledged. */
export const schedulesWithFailovers = schedule(failing);
