import { expect } from 'chai';
import { setImmediate as turn } from 'node:timers/promises';
import { system } from '../../../src/adapters/system';
import { systemClock } from '../../../src/adapters/system/clock';
import { commitIds } from '../../../src/adapters/system/commit-id';

describe('A commit id', () => {
  it('is unique', () => {
    expect(new Set(Array.from({ length: 100_000 }, commitIds()))).to.have.property('size', 100_000);
  });

  it('begins with the time in ISO format', () => {
    const before = Date.now();
    const [, time] = /^(.{24})-[0-9a-f]{16}$/.exec(commitIds()())!;
    expect(Date.parse(time!)).to.be.within(before, Date.now());
  });
});

describe('The system’s clock', () => {
  it('is monotonic', () => {
    const times = Array.from({ length: 1000 }, () => systemClock.now());
    expect(times).to.deep.equal([...times].sort((a, b) => a - b));
  });

  it('runs an action once, not too early, and not if it was cancelled', async () => {
    const called: string[] = [];
    const start = systemClock.now();
    const cancel = systemClock.after(5, () => called.push('cancelled'));
    cancel();
    await new Promise<void>((resolve) => {
      systemClock.after(20, () => called.push('called'));
      // Keeps the process alive, which the clock itself does not.
      const keep = setInterval(() => {
        if (called.length === 0) return;
        clearInterval(keep);
        resolve();
      }, 5);
    });
    expect(called).to.deep.equal(['called']);
    expect(systemClock.now() - start).to.be.at.least(19);
  });
});

describe('The rounds that a turn of the event loop gathers', () => {
  it('start together and in order, before the work that they cause', async () => {
    const { gather } = system();
    const order: string[] = [];
    const round = (name: string) => () => {
      order.push(name);
      void Promise.resolve().then(() => order.push(`after ${name}`));
    };
    gather(round('first'));
    gather(round('second'));
    await turn();
    expect(order).to.deep.equal(['first', 'second', 'after first', 'after second']);
  });

  it('start in the next turn if a round gathers them', async () => {
    const { gather } = system();
    let next: string | undefined;
    gather(() => {
      next = 'gathered';
      gather(() => (next = 'started'));
    });
    await turn();
    expect(next).to.equal('gathered');
    await turn();
    expect(next).to.equal('started');
  });
});
