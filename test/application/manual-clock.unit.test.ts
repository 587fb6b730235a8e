import { expect } from 'chai';
import { ManualClock } from '../support/manual-clock';

describe('A manual clock', () => {
  it('stands still until time is let pass', async () => {
    const clock = new ManualClock();
    const start = clock.now();
    await clock.pass(0);
    expect(clock.now()).to.equal(start);

    await clock.pass(7);
    expect(clock.now()).to.equal(start + 7);
  });

  it('lets each alarm go off once, at its own time, in order of time', async () => {
    const clock = new ManualClock();
    const start = clock.now();
    const heard: string[] = [];
    const alarm = (name: string, ms: number) =>
      clock.after(ms, () => void heard.push(`${name} at ${clock.now() - start}`));
    alarm('late', 30);
    alarm('early', 10);
    alarm('same time', 10);
    alarm('too late', 31);
    await clock.pass(30);
    await clock.pass(0);

    expect(heard).to.deep.equal(['early at 10', 'same time at 10', 'late at 30']);
  });

  it('lets everything happen that one alarm brings about before the next goes off', async () => {
    const clock = new ManualClock();
    const heard: string[] = [];
    clock.after(10, () => {
      void Promise.resolve()
        .then(() => {})
        .then(() => heard.push('consequence'));
      clock.after(5, () => heard.push('set meanwhile'));
    });
    clock.after(20, () => heard.push('next'));
    await clock.pass(20);

    expect(heard).to.deep.equal(['consequence', 'set meanwhile', 'next']);
  });

  it('does not let an alarm go off that was called off', async () => {
    const clock = new ManualClock();
    const heard: string[] = [];
    const callOff = clock.after(10, () => heard.push('alarm'));
    callOff();
    await clock.pass(10);

    expect(heard).to.be.empty;
  });
});
