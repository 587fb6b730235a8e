import { expect } from 'chai';
import { Cancellation } from '../../src/event-sourcing/subscriptions/cancellation';

const NEVER = new Promise<string>(() => {});

describe('A cancellation', () => {
  it('does not wait if it was cancelled before', async () => {
    expect(await new Cancellation(AbortSignal.abort()).unlessCancelled(NEVER)).to.equal(undefined);

    const cancellation = new Cancellation(undefined);
    cancellation.cancel();
    expect(await cancellation.unlessCancelled(NEVER)).to.equal(undefined);
  });
});
