import type { Clock } from '../../../src/event-sourcing';

/** The network between the instances and Redis, as the last moves have left it. */
export interface Line {
  /** Of each direction of each connection. */
  bytesPerMs: number;
}

/** Time between two deliveries, in ms. */
export const TICK_MS = 1;

/** One direction of a connection: delivers bytes in order, with a latency and a bandwidth. */
export class Pipe {
  #queued: Buffer[] = [];
  #queuedBytes = 0;
  #cancelTick: (() => void) | undefined;
  #closed = false;
  #ended: (() => void) | undefined;

  /** @param flows whether the other side takes bytes; while it does not, they wait here. */
  constructor(
    private readonly clock: Clock,
    private readonly line: Line,
    private readonly flows: () => boolean,
    private readonly deliver: (chunk: Buffer) => void,
  ) {}

  /** Number of bytes that were not delivered. */
  get bytes(): number {
    return this.#queuedBytes;
  }

  get idle(): boolean {
    return this.#cancelTick === undefined;
  }

  send(chunk: Buffer): void {
    if (this.#closed || this.#ended) return;
    this.#queued.push(chunk);
    this.#queuedBytes += chunk.length;
    this.wake();
  }

  /** Calls `ended` after all bytes are delivered, and sends no others. */
  end(ended: () => void): void {
    this.#ended ??= ended;
    this.wake();
  }

  /** Discards what was not delivered. */
  close(): void {
    this.#closed = true;
    this.#queued = [];
    this.#queuedBytes = 0;
    this.#cancelTick?.();
    this.#cancelTick = undefined;
  }

  /** Goes on if bytes wait and the other side can take some. */
  wake(): void {
    if (this.#cancelTick || this.#closed || (this.#queuedBytes === 0 && !this.#ended) || !this.flows())
      return;
    this.#cancelTick = this.clock.after(TICK_MS, () => {
      this.#cancelTick = undefined;
      this.#tick();
    });
  }

  #tick(): void {
    if (!this.flows()) return;
    const bytes = Math.min(this.#queuedBytes, this.line.bytesPerMs * TICK_MS);
    if (bytes > 0) this.deliver(this.#take(bytes));
    if (this.#closed) return;
    if (this.#queuedBytes === 0 && this.#ended) {
      this.close();
      this.#ended();
    } else this.wake();
  }

  #take(bytes: number): Buffer {
    this.#queuedBytes -= bytes;
    const [first] = this.#queued;
    if (this.#queued.length === 1 && first!.length === bytes) {
      this.#queued = [];
      return first!;
    }
    const all = Buffer.concat(this.#queued);
    this.#queued = bytes < all.length ? [all.subarray(bytes)] : [];
    return all.subarray(0, bytes);
  }
}
