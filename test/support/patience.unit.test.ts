import { expect } from 'chai';
import { overcommitment, patient } from './patience';

describe('The bound of a promised time', () => {
  it('is as it stands while there are cores for all that runs', () => {
    expect(overcommitment(0, 2)).to.equal(1);
    expect(overcommitment(2, 2)).to.equal(1);
  });

  it('grows with what has to share a core', () => {
    expect(overcommitment(9, 2)).to.equal(4.5);
    expect(overcommitment(9, 16)).to.equal(1);
  });

  it('is never below what was promised on this machine', () => {
    expect(patient(1500)).to.be.at.least(1500);
  });
});
