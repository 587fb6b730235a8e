/**
 * The domain of the engine's tests: a sum that is never negative. A command is the number to add; 0
 * records nothing.
 */
import { type Decider, type EncodedEvent, type Kind, jsonCodec } from '../../src/event-sourcing';

export type Changed = { readonly type: 'Changed'; readonly by: number };
export const changed = (by: number): Changed => ({ type: 'Changed', by });

export const counter: Decider<number, Changed, 'too-low', number> = {
  initialState: () => 0,
  decide: (by, sum) =>
    sum + by < 0 ? { rejection: 'too-low' } : { events: by === 0 ? [] : [changed(by)] },
  evolve(sum, { by }) {
    if (sum + by < 0) throw new RangeError('the sum is negative');
    return sum + by;
  },
};

export const codec = jsonCodec<Changed>({ Changed: { by: Number.isSafeInteger } });
export const encoded = (by: number): EncodedEvent => codec.encode(changed(by));

export const counterKind: Kind<number, Changed, 'too-low', number> = {
  category: 'counters',
  decider: counter,
  codec,
  // Two chunks: the sum is that of both.
  stateCodec: {
    format: 'sum-1',
    reads: {
      'halves-1': { decode: (sum, half) => sum + 2 * (JSON.parse(half) as number) },
      'sum-0': 'obsolete',
    },
    encode: (sum) => [`${Math.floor(sum / 2)}`, `${Math.ceil(sum / 2)}`],
    decode: (sum, chunk) => counter.evolve(sum, changed(JSON.parse(chunk) as number)),
  },
  sizes: { ofState: (sum) => 100 * sum, ofCommand: (by) => Math.max(0, 100 * by) },
};

/** Counters whose decisions have a result: the sum at their moment. */
export const countingKind: Kind<number, Changed, 'too-low', number, number> = {
  ...counterKind,
  category: 'counting',
  decider: {
    initialState: () => 0,
    evolve: (sum, event) => counter.evolve(sum, event),
    decide(by, sum) {
      const decision = counter.decide(by, sum);
      return decision.events ? { events: decision.events, result: sum + by } : decision;
    },
  },
};
