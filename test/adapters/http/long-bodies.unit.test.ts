import { EventEmitter } from 'node:events';
import type { ServerResponse } from 'node:http';
import { expect } from 'chai';
import { LongBodies } from '../../../src/adapters/http/response';

const MIB = 2 ** 20;
/** Of the 128 MiB that may be on their way. */
const [MOST, HALF] = [100 * MIB, 60 * MIB];

/** What `LongBodies` uses of a response. */
class Reader extends EventEmitter {
  destroyed = false;

  destroy(): void {
    this.destroyed = true;
    this.emit('close');
  }
}

describe('Long response bodies', () => {
  let bodies: LongBodies;

  beforeEach(() => (bodies = new LongBodies()));

  /** Its memory is never touched, so it takes none. */
  const body = (bytes: number) => Buffer.allocUnsafeSlow(bytes);
  function read(text: Buffer): Reader {
    const reader = new Reader();
    bodies.track(text, reader as unknown as ServerResponse);
    return reader;
  }

  it('beyond the bound are cut off, the oldest first, but never the newest', () => {
    const readers = [read(body(HALF)), read(body(HALF)), read(body(HALF)), read(body(2 * MOST))];
    expect(readers.map(({ destroyed }) => destroyed)).to.deep.equal([true, true, true, false]);
  });

  it('are counted once, however many clients read them', () => {
    const shared = body(HALF);
    const readers = [read(shared), read(shared), read(shared), read(body(HALF))];
    expect(readers.map(({ destroyed }) => destroyed)).to.deep.equal([false, false, false, false]);
  });

  it('are counted until their last reader has gone', () => {
    const shared = body(MOST);
    const [first, last] = [read(shared), read(shared)];
    first.emit('close');
    read(body(HALF));
    expect(last.destroyed).to.equal(true);
  });

  it('are not counted any more when their last reader has gone', () => {
    read(body(MOST)).emit('close');
    const reader = read(body(MOST));
    read(body(MIB));
    expect(reader.destroyed).to.equal(false);
  });
});
