import { expect } from 'chai';
import { commandFailureOf } from '../../../src/adapters/cli/exit';
import {
  ArchivedHistory,
  HistoryChanged,
  StoreUnavailable,
  UnreadableHistory,
} from '../../../src/event-sourcing';

describe('A command that fails', () => {
  const head = { version: 7, commit: 'a commit' };

  for (const error of [
    new HistoryChanged(head),
    new ArchivedHistory(head),
    new UnreadableHistory('event 8 cannot be read'),
  ])
    it(`refuses a ${error.name}, and does not say that the store is unavailable`, () => {
      expect(commandFailureOf(error)).to.deep.equal({ exit: 'refused', message: error.message });
    });

  it('says that the store is unavailable, and why', () => {
    const error = new StoreUnavailable('no answer', { cause: new Error('ECONNREFUSED') });
    const message = 'the event store is unavailable: no answer (ECONNREFUSED)';
    expect(commandFailureOf(error)).to.deep.equal({ exit: 'unavailable', message });
  });
});
