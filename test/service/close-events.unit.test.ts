import { expect } from 'chai';
import { pino } from 'pino';
import { closeEvents } from '../../src/service/events';
import { ManualClock, untilIdle } from '../support/manual-clock';

describe('Closing the event store', () => {
  const lines: string[] = [];
  const log = pino({}, { write: (line: string) => void lines.push(line) });
  beforeEach(() => (lines.length = 0));
  const reason = () => (JSON.parse(lines[0]!) as { err: Error }).err.message;

  const timers = () => process.getActiveResourcesInfo().filter((resource) => resource === 'Timeout').length;

  it('waits until it is closed, and logs nothing', async () => {
    let closed = false;
    const close = async () => {
      await Promise.resolve();
      closed = true;
    };
    await closeEvents({ close }, log, new ManualClock(), 100);
    expect(closed).to.equal(true);
    expect(lines).to.deep.equal([]);
  });

  for (const [how, close] of [
    ['throws', () => expect.fail('the pool is broken')],
    ['rejects', () => Promise.reject(new Error('the pool is broken'))],
  ] as const) {
    it(`logs why it failed if it ${how}`, async () => {
      await closeEvents({ close }, log, new ManualClock(), 100);
      expect(reason()).to.equal('the pool is broken');
    });
  }

  it('does not keep the process alive any longer than the store needs', async () => {
    // From now on it has the timer of this test.
    await untilIdle();
    const before = timers();
    await closeEvents({ close: () => {} }, log, new ManualClock(), 60_000);
    expect(timers()).to.equal(before);
  });

  it('ends after the time limit, keeps the process alive until then, and logs that it has not closed', async () => {
    const clock = new ManualClock();
    const before = timers();
    const closing = closeEvents({ close: () => new Promise(() => {}) }, log, clock, 100);
    // Otherwise the process would end before.
    expect(timers()).to.equal(before + 1);
    await clock.pass(100);
    await closing;
    expect(reason()).to.equal('it has not closed within 100 ms');
  });
});
