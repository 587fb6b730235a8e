import { type Head, type NewerEvents, type ReadResult, headOf } from './event-store';
import type { Load, LoadQueue } from './load-queue';

/** The collection whose history is loaded. */
export interface LoadTarget {
  /** The head to read on from. */
  readonly head: () => Head;
  readonly read: (after: Head) => Promise<ReadResult>;
  /** Takes a page in. What it throws ends the load. */
  readonly apply: (page: NewerEvents) => void;
  /** The history up to the head is not the stream's: the target starts over. */
  readonly reset: () => void;
  /** Whether a request waits for the load. */
  readonly wanted: () => boolean;
  /** The load has ended; `complete` where it reached the end of the history. */
  readonly ended: (complete: boolean) => void;
}

/**
 * Loads one stream's history in pages that a {@link LoadQueue} admits. One load at a time: it goes on when the
 * requests that began it have run out of time, and later requests join it, so no page is read twice.
 */
export class HistoryLoader implements Load {
  pages = 0;
  expectedAt = -Infinity;
  /** All pages ever requested. */
  pagesRead = 0;
  #loading: Promise<boolean> | undefined;

  constructor(
    private readonly queue: LoadQueue,
    private readonly target: LoadTarget,
  ) {}

  get loading(): boolean {
    return this.#loading !== undefined;
  }

  /**
   * Reads on to the end of the history. False where it did not get there: the history was reset. Rejects with what reading or
   * applying a page threw, and with `StoreUnavailable` where the queue dropped the load; what was applied stays.
   */
  load(): Promise<boolean> {
    if (this.#loading === undefined) {
      this.#loading = this.#run();
      // Where no request waits for it any more, an error is met again by the next one.
      this.#loading.catch(() => {});
    }
    return this.#loading;
  }

  /** In how many milliseconds a request that waited for the load in vain should be repeated. */
  retryAfterMs(): number {
    return this.queue.retryAfterMs(this);
  }

  wanted(): boolean {
    return this.target.wanted();
  }

  async #run(): Promise<boolean> {
    let complete = false;
    try {
      return (complete = await this.#readOn());
    } finally {
      this.#loading = undefined;
      this.pages = 0;
      if (complete) this.queue.finished();
      this.target.ended(complete);
    }
  }

  async #readOn(): Promise<boolean> {
    for (let reading = this.#read(this.target.head()); ;) {
      const page = await reading;
      if (page.status === 'reset') {
        this.target.reset();
        return false;
      }
      const last = page.events.at(-1);
      // Requested while this page is applied. Should that throw, its failure must not go unhandled.
      const following = page.more && last !== undefined ? this.#read(headOf(last)) : undefined;
      following?.catch(() => {});
      this.target.apply(page);
      if (following === undefined) return !page.more;
      reading = following;
    }
  }

  #read(after: Head): Promise<ReadResult> {
    return this.queue.read(this, () => {
      this.pagesRead++;
      return this.target.read(after);
    });
  }
}
