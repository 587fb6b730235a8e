import type { Socket } from 'node:net';
import type { FairScheduler } from './turns';

/** The most expensive input, a body in chunks of one byte, takes half a millisecond a piece. */
const PIECE_BYTES = 2048;

/** Large packets have a lane of their own, so that new input does not wait for all of them. */
const NEW_INPUT = Symbol('new input');
const CONTINUED_INPUT = Symbol('continued input');

/**
 * Passes the input of a connection to Node's parser in pieces, each when the scheduler admits it.
 * Node itself parses 64 KiB at once, and up to 32 times that before it reads from another
 * connection. So 30 clients that sent chunks of one byte made the list of another user wait for
 * seconds.
 *
 * A piece that waits is put back into the stream of the socket, which is paused until the piece is
 * admitted. So at most two packets of each connection are in memory.
 */
export class Intake {
  readonly #parse: ((bytes: Buffer) => void) | undefined;
  #isAdmitted = false;
  #isWaiting = false;
  #isContinued = false;
  #isDropping = false;

  constructor(
    private readonly socket: Socket,
    private readonly scheduler: FairScheduler,
  ) {
    [this.#parse] = socket.listeners('data') as [((bytes: Buffer) => void)?];
    const [startReading] = socket.listeners('resume') as [(() => void)?];
    socket.removeAllListeners('data');
    // Node's parser reads directly from the system, and not from the stream of the socket, until a
    // listener is added. Node then also removes its own listener for `resume`, which is still needed:
    // only that starts reading again if the parser has stopped it within a body.
    socket.on('data', (bytes: Buffer) => this.#take(bytes));
    if (startReading) socket.on('resume', startReading);
  }

  /**
   * From now on, input is read but not parsed. It must be read, because the kernel resets a
   * connection that is closed with unread bytes.
   */
  drop(): void {
    this.#isDropping = true;
    this.socket.resume();
  }

  #take(bytes: Buffer): void {
    let rest = bytes;
    while (!this.#isDropping) {
      if (!this.#admitPiece()) return this.#putBack(rest);
      this.#parse?.(rest.subarray(0, PIECE_BYTES));
      rest = rest.subarray(PIECE_BYTES);
      this.#isContinued = rest.length > 0;
      if (!this.#isContinued) return;
      // Node pauses the socket until the app has read a body or has sent responses.
      if (this.socket.isPaused()) return this.#putBack(rest);
    }
    // This packet is dropped. The next one is read in the next turn of the event loop, so that a fast
    // sender does not take the whole turn.
    this.socket.pause();
    setImmediate(() => this.socket.resume());
  }

  #putBack(bytes: Buffer): void {
    this.socket.pause();
    this.socket.unshift(bytes);
  }

  #admitPiece(): boolean {
    // Node resumes the socket when the app reads a body, even while a piece waits.
    if (this.#isWaiting) return false;
    const admission = this.#isAdmitted
      ? undefined
      : this.scheduler.admit(this.#isContinued ? CONTINUED_INPUT : NEW_INPUT, false);
    this.#isAdmitted = false;
    if (admission === undefined) return true;
    this.#isWaiting = true;
    void admission.then(() => {
      this.#isWaiting = false;
      this.#isAdmitted = true;
      this.socket.resume();
    });
    return false;
  }
}
