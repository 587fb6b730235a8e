import { expect } from 'chai';
import { randomFrom } from '../../support/random';
import { judge, settled } from './flatness';

const TOLERANCE = { share: 0.1, absolute: 1 };

/** 60 values around 100, with uniform noise of 10 in each direction. */
function noisy(seed: number): number[] {
  const random = randomFrom(seed);
  return Array.from({ length: 60 }, () => 90 + 20 * random());
}

const seeds = Array.from({ length: 50 }, (_, seed) => seed);

describe('The judge of flatness', () => {
  it('passes noise', () => {
    for (const seed of seeds)
      expect(judge(noisy(seed), TOLERANCE), `seed ${seed}`).to.include({ flat: true });
  });

  it('detects a leak that is little more than the noise', () => {
    for (const seed of seeds) {
      const leaking = noisy(seed).map((value, index) => value + index / 2);
      const { flat, growth } = judge(leaking, TOLERANCE);
      expect(flat, `seed ${seed}`).to.equal(false);
      expect(growth, `seed ${seed}`).to.be.closeTo(30, 10);
    }
  });

  it('passes pauses and peaks, even at the end', () => {
    const peaks = noisy(1).map((value, index) => (index % 10 === 0 || index > 56 ? 20 * value : value));
    expect(judge(peaks, TOLERANCE).flat).to.equal(true);
  });

  it('passes what falls', () => {
    expect(judge([5, 4, 3, 2, 1], TOLERANCE)).to.deep.equal({
      ...{ start: 5, growth: -4, allowed: 1, flat: true },
    });
  });

  it('allows a share of the value at the start, or an absolute growth', () => {
    expect(judge([100, 105, 110], TOLERANCE)).to.include({ growth: 10, allowed: 10, flat: true });
    expect(judge([100, 106, 112], TOLERANCE)).to.include({ growth: 12, flat: false });
    expect(judge([0, 0.5, 1], TOLERANCE)).to.include({ growth: 1, allowed: 1, flat: true });
    expect(judge([0, 1, 2], TOLERANCE)).to.include({ growth: 2, flat: false });
  });

  it('has no verdict on two values', () => {
    expect(() => judge([1, 1], TOLERANCE)).to.throw('2 values show no trend');
  });

  it('ignores the warm-up', () => {
    expect(settled([1, 2, 3, 4, 5, 6, 7, 8])).to.deep.equal([3, 4, 5, 6, 7, 8]);
  });
});
