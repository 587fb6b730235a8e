import { expect } from 'chai';
import { mintCommit } from '../../../src/adapters/redis/commit-id';

describe('A commit id of the Redis store', () => {
  it('is the time in milliseconds and six random digits', () => {
    const before = Date.now();
    const ids = Array.from({ length: 1000 }, mintCommit);

    for (const id of ids) {
      expect(id).to.match(/^[1-9]\d{18}$/);
      expect(Number(id.slice(0, 13))).to.be.within(before, Date.now());
    }
    expect(new Set(ids.map((id) => id.slice(13))).size, 'random numbers').to.be.above(900);
  });

  it('is a text that Redis keeps as a 64-bit integer', () => {
    const id = mintCommit();
    expect(BigInt.asIntN(64, BigInt(id)).toString()).to.equal(id);
  });
});
