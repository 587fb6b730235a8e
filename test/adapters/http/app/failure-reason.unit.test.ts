import { expect } from 'chai';
import { failureReason } from '../../../../src/adapters/http/app/problems';
import { AuthenticationUnavailable } from '../../../../src/application';
import { OutcomeUnknown, StoreUnavailable, UnreadableHistory } from '../../../../src/event-sourcing';

describe('The reason of a failed request', () => {
  const reasons: readonly [string, unknown][] = [
    ['store', new StoreUnavailable('away')],
    ['waiting_requests', new StoreUnavailable('full', { reason: 'waiting_requests' })],
    ['unreadable', new UnreadableHistory('of another program')],
    ['unknown_outcome', new OutcomeUnknown('late')],
    ['authentication', new AuthenticationUnavailable('no keys')],
    ['bug', new TypeError('undefined is not a function')],
  ];
  for (const [reason, error] of reasons) {
    it(`is ${reason} for ${(error as Error).name}`, () => {
      expect(failureReason(error)).to.equal(reason);
    });
  }
});
