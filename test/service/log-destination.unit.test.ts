import { expect } from 'chai';
import { LogDestination } from '../../src/service/log-destination';
import { until } from '../support/until';

/** A fake standard output: accepts at most `room` bytes, then fails with `code`. */
class Sink {
  text = '';
  writes = 0;
  room = Infinity;
  code = 'EAGAIN';

  readonly write = (bytes: Uint8Array): number => {
    this.writes++;
    if (this.room === 0) throw Object.assign(new Error(this.code), { code: this.code });
    const taken = bytes.subarray(0, this.room);
    this.room -= taken.length;
    this.text += Buffer.from(taken).toString();
    return taken.length;
  };
}

describe('LogDestination', () => {
  let sink: Sink;
  let destination: LogDestination;
  beforeEach(() => {
    sink = new Sink();
    destination = new LogDestination({ write: sink.write, maxWaitingBytes: 1000 });
  });
  // Discards what a test has not written.
  afterEach(() => {
    sink.room = Infinity;
    destination.flushSync();
  });

  /** Lines of ten bytes, numbered. */
  const lines = (count: number, first = 0) =>
    Array.from({ length: count }, (_, index) => `${String(first + index).padStart(9, '0')}\n`);
  const log = (count: number, first = 0) => lines(count, first).forEach((line) => destination.write(line));

  it('writes the lines of a few milliseconds as one batch, in order', async () => {
    log(50);
    expect(sink.writes).to.equal(0);
    await until(() => sink.writes > 0);
    expect(sink).to.deep.include({ writes: 1, text: lines(50).join('') });
    expect(destination).to.include({ waiting: 0, dropped: 0 });
  });

  it('writes a large batch at once', () => {
    const line = `${'x'.repeat(64 * 1024 - 1)}\n`;
    const roomy = new LogDestination({ write: sink.write });
    roomy.write(line);
    expect(sink.text).to.equal(line);

    // While the reader is slow, a line is no reason for another attempt.
    sink.room = 0;
    for (let times = 0; times < 3; times++) roomy.write(line);
    expect(sink.writes).to.equal(2);
    sink.room = Infinity;
    roomy.flushSync();
  });

  it('buffers the lines for a slow reader, and writes them once it reads again', async () => {
    sink.room = 25;
    log(50);
    await until(() => sink.room === 0);
    log(50, 50);
    sink.room = Infinity;
    await until(() => destination.waiting === 0);
    expect(sink.text).to.equal(lines(100).join(''));
    expect(destination.dropped).to.equal(0);
  });

  it('buffers a bounded number of bytes, drops and counts further lines, and logs the count later', async () => {
    const recovered: number[] = [];
    destination.recovered = (dropped) => recovered.push(dropped);
    sink.room = 0;
    log(150);
    expect(destination).to.include({ waiting: 1000, dropped: 50 });
    await until(() => sink.writes > 2);
    // The buffered lines are the batch that is being written now.
    log(10, 150);
    expect(destination).to.include({ waiting: 1000, dropped: 60 });
    expect(recovered).to.deep.equal([]);
    sink.room = Infinity;
    await until(() => destination.waiting === 0);
    expect(recovered).to.deep.equal([60]);
    expect(sink.text).to.equal(lines(100).join(''));
  });

  it('calls `recovered` once for each loss, although that logs a line itself', () => {
    let calls = 0;
    destination.recovered = () => {
      // An endless loop would exhaust the memory before the test ends.
      if (++calls < 10) log(1);
      destination.flushSync();
    };
    sink.room = 0;
    log(150);
    sink.room = Infinity;
    for (let times = 0; times < 3; times++) destination.flushSync();
    expect(calls).to.equal(1);
  });

  it('counts bytes, not characters', () => {
    sink.room = 0;
    for (let count = 0; count < 11; count++) destination.write(`${'ü'.repeat(49)}\n`);
    expect(destination).to.include({ waiting: 10 * 99, dropped: 1 });
  });

  for (const code of ['ENOSPC', 'EPIPE', 'EIO']) {
    it(`drops and counts lines that cannot be written (${code}), and writes again once it can`, () => {
      const recovered: number[] = [];
      destination.recovered = (dropped) => recovered.push(dropped);
      sink.code = code;
      sink.room = 0;
      for (let batch = 0; batch < 3; batch++) {
        log(20);
        destination.flushSync();
      }
      expect(destination).to.include({ waiting: 0, dropped: 60 });
      sink.room = Infinity;
      destination.flushSync();
      expect(recovered).to.deep.equal([]);
      log(2);
      destination.flushSync();
      expect(sink.text).to.equal(lines(2).join(''));
      expect(recovered).to.deep.equal([60]);
    });
  }

  for (const [room, whole, waiting] of [
    [25, 3, 5],
    [30, 3, 0],
  ] as const)
    it(`completes a line that a full disk has truncated, and no other (${room} bytes)`, () => {
      sink.code = 'ENOSPC';
      sink.room = room;
      log(20);
      destination.flushSync();
      expect(destination).to.include({ waiting, dropped: 17 });
      sink.room = Infinity;
      log(1, 20);
      destination.flushSync();
      expect(sink.text).to.equal([...lines(whole), ...lines(1, 20)].join(''));
    });

  it('drops and counts also the lines behind a batch for a slow reader', () => {
    sink.room = 25;
    log(5);
    destination.flushSync();
    sink.code = 'ENOSPC';
    log(5, 5);
    destination.flushSync();
    expect(destination).to.include({ waiting: 5, dropped: 7 });
  });

  it('is closed at once if the reader takes all', () => {
    log(10);
    const since = performance.now();
    destination.close(5000);
    expect(performance.now() - since).to.be.below(5000);
  });

  it('writes the waiting lines when it is closed, and waits a limited time for a slow reader', () => {
    log(10);
    destination.close(0);
    expect(sink.text).to.equal(lines(10).join(''));

    sink.room = 0;
    log(10, 10);
    const before = sink.writes;
    destination.close(500);
    expect(sink.writes - before).to.be.above(2);
    expect(destination.waiting).to.equal(100);
  });
});
