import { expect } from 'chai';
import { ManualClock } from '../support/manual-clock';

describe('A manual clock', () => {
  it('stands still until it is advanced', async () => {
    const clock = new ManualClock();
    const start = clock.now();
    await clock.pass(0);
    expect(clock.now()).to.equal(start);

    await clock.pass(7);
    expect(clock.now()).to.equal(start + 7);
  });

  it('fires each alarm once, at its own time, in order of time', async () => {
    const clock = new ManualClock();
    const start = clock.now();
    const fired: string[] = [];
    const alarm = (name: string, ms: number) =>
      clock.after(ms, () => void fired.push(`${name} at ${clock.now() - start}`));
    alarm('late', 30);
    alarm('early', 10);
    alarm('same time', 10);
    alarm('too late', 31);
    await clock.pass(30);
    await clock.pass(0);

    expect(fired).to.deep.equal(['early at 10', 'same time at 10', 'late at 30']);
  });

  it('completes all effects of an alarm before it fires the next one', async () => {
    const clock = new ManualClock();
    const fired: string[] = [];
    clock.after(10, () => {
      void Promise.resolve()
        .then(() => {})
        .then(() => fired.push('consequence'));
      clock.after(5, () => fired.push('set meanwhile'));
    });
    clock.after(20, () => fired.push('next'));
    await clock.pass(20);

    expect(fired).to.deep.equal(['consequence', 'set meanwhile', 'next']);
  });

  it('does not fire a cancelled alarm', async () => {
    const clock = new ManualClock();
    const fired: string[] = [];
    const cancel = clock.after(10, () => fired.push('alarm'));
    cancel();
    await clock.pass(10);

    expect(fired).to.be.empty;
  });
});
