import { expect } from 'chai';
import { FEED_BEGINNING, type FeedTrail, withPosition } from '../../src/event-sourcing';

describe('The trail of a consumer of a feed', () => {
  it('is short, newest first, and has after any lost end a position less than three times as far away', () => {
    for (const step of [1, 7, 1000]) {
      let trail: FeedTrail = [FEED_BEGINNING];
      for (let sequence = step; sequence <= 2000 * step; sequence += step) {
        trail = withPosition(trail, { sequence, commit: String(sequence) });
        const distances = trail.map((position) => sequence - position.sequence);
        expect(trail[0]).to.deep.equal({ sequence, commit: String(sequence) });
        expect(trail.length).to.be.at.most(3 + 2 * Math.log2(sequence / step));
        distances.slice(1).forEach((distance, index) => {
          // The entries after `distances[index]` are shared, and it is lost.
          expect(distance).to.be.within(distances[index]! + 1, 3 * (distances[index]! + step));
        });
      }
    }
  });
});
