import type { Clock } from './clock';
import { StoreUnavailable } from './event-store';

/** The reading of one stream's history from the store, page by page. */
export interface Load {
  /** Pages requested so far. */
  pages: number;
  /** When {@link LoadQueue.retryAfterMs} expects it to succeed, on the clock. */
  expectedAt: number;
  /** Whether a request waits for it. */
  wanted(): boolean;
}

/** A load that waits for its next page. */
interface Turn {
  readonly load: Load;
  readonly begin: () => void;
  readonly drop: () => void;
}

/** Enough to keep a store busy; so few that the replies of live requests are not delayed. */
const MAX_READS = 4;
/** Up to this many pages a load is short, and goes before long ones. */
const SHORT_PAGES = 32;
/** Every so many turns, one is a long load's while there is any. */
const LONG_SHARE = 4;
/** How many long loads go on at most after their requests have gone. */
const MAX_UNWANTED = 8;

const FIRST_ESTIMATE_MS = 10;
const ESTIMATE_WEIGHT = 0.05;
const MIN_RETRY_MS = 1000;
const MAX_RETRY_MS = 60_000;

/**
 * Admits the pages of all loads to the store, a few at a time. A restart with many users makes all of them load at
 * once; sent together, their pages would time out together, and be requested again without end.
 *
 * A load that has begun goes before one that has not, so the first users are served early instead of all of them
 * late. After {@link SHORT_PAGES} it is long: long loads take turns page by page, and get every fourth turn. A load
 * that no request waits for any more is not begun; one that has begun goes on.
 */
export class LoadQueue {
  readonly #begun: Turn[] = [];
  readonly #fresh: Turn[] = [];
  readonly #long: Turn[] = [];
  #reading = 0;
  #turns = 0;
  /** Average time from the end of a load to the next one's, while loads wait. */
  #msPerLoad = FIRST_ESTIMATE_MS;
  #finishedAt: number | undefined;
  /** Up to when the loads that were dropped are expected to keep the store busy. */
  #bookedUntil = -Infinity;

  /**
   * @param pageTimeoutMs within how many milliseconds the store must have answered a page; else the load ends.
   * Longer than requests wait: a page that comes late for them is still taken in.
   */
  constructor(
    private readonly clock: Clock,
    private readonly pageTimeoutMs: number,
    private readonly maxReads = MAX_READS,
  ) {}

  /** Pages requested from the store and not answered yet. */
  get reading(): number {
    return this.#reading;
  }

  /** Pages that wait to be requested. */
  get waiting(): number {
    return this.#begun.length + this.#fresh.length + this.#long.length;
  }

  /** Reads a page when it is the load's turn. Rejects with {@link StoreUnavailable} where the load is dropped. */
  read<T>(load: Load, page: () => Promise<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      const begin = () => {
        this.#reading++;
        load.pages++;
        this.#inTime(page())
          .then(resolve, reject)
          .finally(() => {
            this.#reading--;
            this.#admit();
          });
      };
      const drop = () => reject(new StoreUnavailable('no request waits for this history any more'));
      this.#queueOf(load).push({ load, begin, drop });
      this.#admit();
    });
  }

  /** Notes that a load has read a whole history. */
  finished(): void {
    const now = this.clock.now();
    if (this.#finishedAt !== undefined)
      this.#msPerLoad += ESTIMATE_WEIGHT * (now - this.#finishedAt - this.#msPerLoad);
    this.#finishedAt = this.waiting > 0 ? now : undefined;
  }

  /**
   * In how many milliseconds a request whose time has run out should be repeated. Loads that are dropped get
   * different times, one after the other as the store can serve them, so that their clients do not return together.
   */
  retryAfterMs(load: Load): number {
    if (load.pages > 0) return MIN_RETRY_MS;
    const now = this.clock.now();
    if (load.expectedAt <= now) {
      this.#bookedUntil = Math.max(this.#bookedUntil, now) + this.#msPerLoad;
      load.expectedAt = this.#bookedUntil;
    }
    return Math.min(Math.max(load.expectedAt - now, MIN_RETRY_MS), MAX_RETRY_MS);
  }

  #inTime<T>(page: Promise<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      const late = () => reject(new StoreUnavailable('the event store did not answer in time'));
      const cancel = this.clock.after(this.pageTimeoutMs, late);
      page.then(resolve, reject).finally(cancel);
    });
  }

  #queueOf({ pages }: Load): Turn[] {
    if (pages === 0) return this.#fresh;
    return pages < SHORT_PAGES ? this.#begun : this.#long;
  }

  #admit(): void {
    while (this.#reading < this.maxReads) {
      const turn = this.#next();
      if (turn === undefined) return;
      if (this.#isWorthwhile(turn.load)) turn.begin();
      else turn.drop();
    }
  }

  #next(): Turn | undefined {
    const longFirst = ++this.#turns % LONG_SHARE === 0;
    return (
      (longFirst ? this.#long.shift() : undefined) ??
      this.#begun.shift() ??
      this.#fresh.shift() ??
      this.#long.shift()
    );
  }

  #isWorthwhile(load: Load): boolean {
    if (load.wanted()) return true;
    if (load.pages < SHORT_PAGES) return load.pages > 0;
    return this.#long.filter((turn) => !turn.load.wanted()).length < MAX_UNWANTED;
  }
}
