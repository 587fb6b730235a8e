import { Writable } from 'node:stream';
import { expect } from 'chai';
import { progressOn } from '../../../src/adapters/cli/progress';
import { Output } from '../../../src/adapters/cli/terminal';
import { ManualClock } from '../../support/manual-clock';

describe('The progress of a command', () => {
  function watched(isTTY: boolean, columns = 80) {
    let text = '';
    const stream = Object.assign(
      new Writable({
        write(chunk: Buffer, _, done) {
          text += chunk.toString();
          done();
        },
      }),
      { isTTY, columns },
    );
    const clock = new ManualClock();
    return { clock, progress: progressOn(new Output(stream), clock, 'events'), text: () => text };
  }

  it('is a bar on a terminal, redrawn in place and erased at the end', async () => {
    const { clock, progress, text } = watched(true);
    for (let done = 0; done <= 1000; done += 10) {
      await clock.pass(10);
      await progress.advance(done, 2000);
    }
    const drawings = text().split('\r\u001b[K').slice(1);
    expect(drawings).to.have.length(10);
    expect(drawings.at(-1)).to.equal(
      '[############------------] events: 990 of 2000 (49 %), 990 a second, 2 s left',
    );
    await progress.end();
    expect(text().endsWith('\r\u001b[K')).to.equal(true);
  });

  it('is never wider than the terminal', async () => {
    const { clock, progress, text } = watched(true, 70);
    await clock.pass(100);
    await progress.advance(123_456_789_012, 987_654_321_098_765);
    expect(text().replace('\r\u001b[K', '')).to.have.length(69);
  });

  it('shows the time left on 80 columns, beside a bar that is as wide as it fits', async () => {
    for (const [done, total, shown] of [
      [
        1_234_567,
        98_765_432,
        /^\[-{8}\] events: 1234567 of 98765432 \(1 %\), 1234567 a second, 1 min 20 s left$/,
      ],
      [1_234_567_890, 987_654_321_098, /^events: .* a second, 13 min 20 s left$/],
    ] as const) {
      const { clock, progress, text } = watched(true);
      await clock.pass(1000);
      await progress.advance(done, total);
      expect(text().replace('\r\u001b[K', ''))
        .to.match(shown)
        .and.to.have.property('length')
        .that.is.below(80);
    }
  });

  it('estimates the time left when the total is known', async () => {
    for (const [done, total, left] of [
      [10, 20, '5 s left'],
      [10, 10, '0 s left'],
      [10, 150, '1 min 10 s left'],
      [1, 1000, '1 h 23 min left'],
    ] as const) {
      const { clock, progress, text } = watched(false);
      await clock.pass(5000);
      await progress.advance(done, total);
      expect(text()).to.contain(`a second, ${left}\n`);
    }
    const { clock, progress, text } = watched(false);
    await clock.pass(5000);
    await progress.advance(0, 20);
    expect(text()).to.equal('events: 0 of 20 (0 %), 0 a second\n');
  });

  it('is a line every five seconds without a terminal', async () => {
    const { clock, progress, text } = watched(false);
    for (let second = 1; second <= 12; second++) {
      await clock.pass(1000);
      await progress.advance(second * 100, 0);
    }
    await progress.end();
    expect(text()).to.equal('events: 500, 100 a second\nevents: 1000, 100 a second\n');
  });
});
