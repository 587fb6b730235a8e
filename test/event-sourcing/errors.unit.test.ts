import { expect } from 'chai';
import {
  BrokenSnapshot,
  OutcomeUnknown,
  StoreUnavailable,
  UnreadableHistory,
} from '../../src/event-sourcing';
import { isStoreFault } from '../../src/event-sourcing/event-store';

describe('The errors of the engine', () => {
  it('have a name, by which logs show them, and a reason, by which metrics count them', () => {
    expect(new StoreUnavailable('away')).to.include({
      name: 'StoreUnavailable',
      message: 'away',
      reason: 'store',
      retryAfterMs: undefined,
    });
    expect(new StoreUnavailable('later', { reason: 'loading', retryAfterMs: 7 })).to.include({
      reason: 'loading',
      retryAfterMs: 7,
    });
    expect(new UnreadableHistory()).to.include({ name: 'UnreadableHistory', reason: 'unreadable' });
    expect(new OutcomeUnknown().name).to.equal('OutcomeUnknown');
    expect(new BrokenSnapshot().name).to.equal('BrokenSnapshot');
  });

  it('are faults of the store, apart from bugs', () => {
    for (const fault of [new StoreUnavailable(), new UnreadableHistory(), new OutcomeUnknown()])
      expect(isStoreFault(fault), fault.name).to.equal(true);
    for (const other of [new TypeError(), 'text', undefined]) expect(isStoreFault(other)).to.equal(false);
  });
});
