/** Lines that arrive within this time are written as one batch. */
const BATCH_MS = 5;
/** A batch of this size does not wait for further lines: as much as a pipe holds on Linux. */
const BATCH_BYTES = 64 * 1024;
/** Bound on the bytes that wait for a slow reader. Further lines are dropped. */
const MAX_WAITING_BYTES = 8 * 1024 * 1024;
/** Pause between two attempts while the reader accepts nothing, in ms. It doubles from `first` to `last`. */
const RETRY_MS = { first: 1, last: 50 };

const LINE_FEED = 0x0a;
const NOTHING = Buffer.alloc(0);

interface LogDestinationOptions {
  /**
   * Writes without blocking and returns how many bytes were taken, as
   * `fs.writeSync` does. Throws EAGAIN if the reader is slow.
   */
  readonly write: (bytes: Uint8Array) => number;
  readonly maxWaitingBytes?: number;
}

/**
 * Writes log lines in batches. Neither blocks nor throws, and holds a bounded
 * number of bytes. Lines for a slow reader wait up to that bound; lines that
 * cannot be written (no space left, closed pipe) are dropped. Dropped lines are
 * counted, and no line is ever written in part.
 */
export class LogDestination {
  /** Called once lines can be written again, with how many were dropped since the start. */
  recovered: (dropped: number) => void = () => {};

  readonly #write: (bytes: Uint8Array) => number;
  readonly #maxWaitingBytes: number;
  #lines: string[] = [];
  #captured: string | undefined;
  #linesBytes = 0;
  /** What is left of the batch that is being written. */
  #batch = NOTHING;
  /** Whether a line was written in part, so that `#batch` begins with the rest of it. */
  #withinLine = false;
  #timer: NodeJS.Timeout | undefined;
  #retryMs = 0;
  #dropped = 0;
  #droppedKnown = 0;

  constructor({ write, maxWaitingBytes = MAX_WAITING_BYTES }: LogDestinationOptions) {
    this.#write = write;
    this.#maxWaitingBytes = maxWaitingBytes;
  }

  /** How many lines were dropped so far. */
  get dropped(): number {
    return this.#dropped;
  }

  /** In bytes. */
  get waiting(): number {
    return this.#batch.length + this.#linesBytes;
  }

  /** @param line with its line feed. */
  write(line: string): void {
    if (this.#captured !== undefined) {
      this.#captured += line;
      return;
    }
    const bytes = Buffer.byteLength(line);
    if (this.waiting + bytes > this.#maxWaitingBytes) {
      this.#dropped++;
      return;
    }
    this.#lines.push(line);
    this.#linesBytes += bytes;
    if (this.#retryMs === 0 && this.#linesBytes >= BATCH_BYTES) this.flushSync();
    else this.#flushAfter(BATCH_MS);
  }

  /** Returns the lines that `log` writes; they are not written. */
  capture(log: () => void): string {
    this.#captured = '';
    try {
      log();
      return this.#captured;
    } finally {
      this.#captured = undefined;
    }
  }

  /** Writes what can be written without waiting. Called by pino after a line at `fatal`. */
  flushSync(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.waiting === 0) return;
    try {
      while (this.#nextBatch()) this.#writeOnce();
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'EAGAIN') this.#retryLater();
      else this.#dropAll();
      return;
    }
    if (this.#dropped === this.#droppedKnown) return;
    this.#droppedKnown = this.#dropped;
    this.recovered(this.#dropped);
  }

  /** Writes what waits; for a slow reader it blocks the process, at most for `withinMs`. For the end of the process. */
  close(withinMs: number): void {
    const deadline = performance.now() + withinMs;
    this.flushSync();
    while (this.#retryMs > 0 && performance.now() < deadline) {
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, RETRY_MS.last);
      this.flushSync();
    }
    clearTimeout(this.#timer);
  }

  #flushAfter(ms: number): void {
    // The exit of the process flushes as well, so nothing has to keep it alive for this.
    this.#timer ??= setTimeout(() => this.flushSync(), ms).unref();
  }

  #nextBatch(): boolean {
    if (this.#batch.length > 0) return true;
    if (this.#lines.length === 0) return false;
    this.#batch = Buffer.from(this.#lines.join(''));
    this.#lines = [];
    this.#linesBytes = 0;
    return true;
  }

  #writeOnce(): void {
    const taken = this.#write(this.#batch);
    this.#withinLine = this.#batch[taken - 1] !== LINE_FEED;
    this.#batch = this.#batch.subarray(taken);
    this.#retryMs = 0;
  }

  #retryLater(): void {
    this.#retryMs = Math.min(Math.max(RETRY_MS.first, this.#retryMs * 2), RETRY_MS.last);
    this.#flushAfter(this.#retryMs);
  }

  /** The rest of a line that was written in part is kept: written later, it makes the line whole. */
  #dropAll(): void {
    const kept = this.#withinLine ? this.#batch.indexOf(LINE_FEED) + 1 : 0;
    for (
      let at = this.#batch.indexOf(LINE_FEED, kept);
      at !== -1;
      at = this.#batch.indexOf(LINE_FEED, at + 1)
    )
      this.#dropped++;
    this.#dropped += this.#lines.length;
    this.#batch = Buffer.from(this.#batch.subarray(0, kept));
    this.#lines = [];
    this.#linesBytes = 0;
    this.#retryMs = 0;
  }
}
