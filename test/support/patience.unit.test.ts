import { expect } from 'chai';
import { overcommitment, patient } from './patience';

describe('The bound of a promised time', () => {
  it('is unchanged while there are enough cores', () => {
    expect(overcommitment(0, 2)).to.equal(1);
    expect(overcommitment(2, 2)).to.equal(1);
  });

  it('grows with the number of processes that share a core', () => {
    expect(overcommitment(9, 2)).to.equal(4.5);
    expect(overcommitment(9, 16)).to.equal(1);
  });

  it('is never below the promise on this machine', () => {
    expect(patient(1500)).to.be.at.least(1500);
  });
});
