import { expect } from 'chai';
import { retryAfterSeconds } from '../../../src/adapters/http/problems';
import { StoreUnavailable } from '../../../src/event-sourcing';

const secondsOf = (retryAfterMs: number | undefined, random: number) =>
  retryAfterSeconds(new StoreUnavailable('', { retryAfterMs }), () => random);

describe('Retry-After', () => {
  for (const [ms, least, most] of [
    [undefined, 1, 2],
    [0, 1, 2],
    [1, 1, 2],
    [1000, 1, 2],
    [1001, 2, 3],
    [3500, 4, 6],
    [10_000, 10, 15],
  ] as const) {
    it(`for ${ms ?? 'an unknown number of'} ms is random from ${least} to ${most} seconds`, () => {
      const seen = new Set<number>();
      for (let random = 0; random < 1; random += 0.01) seen.add(secondsOf(ms, random));
      expect(Math.min(...seen)).to.equal(least);
      expect(Math.max(...seen)).to.equal(most);
      expect(seen.size).to.equal(most - least + 1);
    });
  }
});
