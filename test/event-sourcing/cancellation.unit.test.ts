import { getEventListeners } from 'node:events';
import { expect } from 'chai';
import { Cancellation } from '../../src/event-sourcing/subscriptions/cancellation';

const NEVER = new Promise<string>(() => {});

describe('A cancellation', () => {
  it('ends what waits when its signal is aborted, and listens only meanwhile', async () => {
    const controller = new AbortController();
    const cancellation = new Cancellation(controller.signal);
    const waiting = cancellation.unlessCancelled(NEVER);
    expect(getEventListeners(controller.signal, 'abort')).to.have.length(1);

    controller.abort();
    expect(await waiting).to.equal(undefined);
    expect(cancellation.isCancelled()).to.equal(true);
    expect(getEventListeners(controller.signal, 'abort')).to.be.empty;
  });

  it('stops listening when the work is done, and returns its result', async () => {
    const { signal } = new AbortController();
    expect(await new Cancellation(signal).unlessCancelled(Promise.resolve(7))).to.equal(7);
    expect(getEventListeners(signal, 'abort')).to.be.empty;
  });

  it('does not wait if it was cancelled before', async () => {
    expect(await new Cancellation(AbortSignal.abort()).unlessCancelled(NEVER)).to.equal(undefined);

    const cancellation = new Cancellation(undefined);
    cancellation.cancel();
    expect(await cancellation.unlessCancelled(NEVER)).to.equal(undefined);
  });
});
