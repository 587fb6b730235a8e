import type { Clock } from '../ports/clock';
import { StoreUnavailable } from '../ports/faults';

/** A load: reads one stream's history from the store, page by page. */
export interface Load {
  /** Pages requested so far. */
  pages: number;
  /** The time at which {@link LoadQueue.retryAfterMs} expects it to succeed. */
  expectedAt: number;
  /** Whether a request waits for it. */
  wanted(): boolean;
}

/** A waiting request for a page. */
interface Turn {
  readonly load: Load;
  readonly begin: () => void;
  readonly drop: () => void;
}

/** Pages in flight: enough to keep a store busy, few enough not to delay the replies of rounds. */
const MAX_READS = 4;
/** Up to this many pages a load is short, and has priority over long ones. */
const SHORT_PAGES = 8;
/** One in this many turns goes to a long load, if there is one. */
const LONG_SHARE = 4;
/** Maximum number of long loads that continue without a waiting request. */
const MAX_UNWANTED = 8;

/**
 * After this long the loads pause until the timers have run. A store in this process may answer every page without
 * input or output, and then nothing else would run until the end of the history.
 */
const LONGEST_TURN_MS = 50;

const FIRST_ESTIMATE_MS = 10;
const ESTIMATE_WEIGHT = 0.05;
/** Retries are scheduled at this multiple of the average: loads become slower while clients reconnect and retry. */
const SCHEDULE_MARGIN = 1.25;
const MIN_RETRY_MS = 1000;
const MAX_RETRY_MS = 60_000;

/**
 * Admits the pages of all loads to the store, a few at a time. After a restart many streams load at once; if all
 * their pages were requested together, they would all time out and be requested again, endlessly.
 *
 * A started load has priority over one that is not, so that the first clients are served early instead of all of
 * them late. After {@link SHORT_PAGES} a load is long: long loads take turns page by page, and get every fourth
 * turn. A load that no request waits for is not started; a started one continues.
 */
export class LoadQueue {
  readonly #started: Turn[] = [];
  readonly #unstarted: Turn[] = [];
  readonly #long: Turn[] = [];
  #reading = 0;
  #turns = 0;
  /** Loads that have begun and not ended, started or not. */
  #loads = 0;
  /** Average time between the ends of two loads, while loads wait. */
  #msPerLoad = FIRST_ESTIMATE_MS;
  #finishedAt: number | undefined;
  /** Since when loads have not paused, and the pause that is in progress. */
  #pausedAt = 0;
  #pause: Promise<void> | undefined;
  /** The time until which the retries of dropped loads are scheduled. */
  #bookedUntil = -Infinity;

  /**
   * @param pageTimeoutMs the load ends if the store does not answer a page within this time. Longer than the deadline
   * of a request: a page that is too late for its request is still applied.
   */
  constructor(
    private readonly clock: Clock,
    private readonly pageTimeoutMs: number,
    private readonly maxReads = MAX_READS,
  ) {}

  /** Loads whose first page was requested. */
  get inProgress(): number {
    return this.#loads - this.#unstarted.length;
  }

  /** Loads that wait for their first page. */
  get unstarted(): number {
    return this.#unstarted.length;
  }

  /** Reads a page when it is the load's turn. Rejects with {@link StoreUnavailable} if the load is dropped. */
  read<T>(load: Load, page: () => Promise<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      const begin = () => {
        this.#reading++;
        load.pages++;
        // A store may throw instead of returning a promise that rejects.
        this.#withTimeout((async () => page())())
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

  /** Records that a load begins. {@link ended} follows. */
  began(): void {
    if (this.#loads === 0) this.#pausedAt = this.clock.now();
    this.#loads++;
  }

  /** @param complete whether the load has reached the end of its history. */
  ended(complete: boolean): void {
    this.#loads--;
    if (!complete) return;
    const now = this.clock.now();
    if (this.#finishedAt !== undefined)
      this.#msPerLoad += ESTIMATE_WEIGHT * (now - this.#finishedAt - this.#msPerLoad);
    const waiting = this.#started.length + this.#unstarted.length + this.#long.length;
    this.#finishedAt = waiting > 0 ? now : undefined;
  }

  /**
   * The time after which a request that expired during the load should be retried, in ms. Each dropped load gets a
   * different time, a little after the store could serve it, so that the retry is served at once.
   */
  retryAfterMs(load: Load): number {
    if (load.pages > 0) return MIN_RETRY_MS;
    const now = this.clock.now();
    if (load.expectedAt <= now) {
      this.#bookedUntil = Math.max(this.#bookedUntil, now) + SCHEDULE_MARGIN * this.#msPerLoad;
      load.expectedAt = this.#bookedUntil;
    }
    return Math.min(Math.max(load.expectedAt - now, MIN_RETRY_MS), MAX_RETRY_MS);
  }

  /** Resolves at once, or after the timers have run if that is due. */
  async pauseIfDue(): Promise<void> {
    if (this.clock.now() - this.#pausedAt < LONGEST_TURN_MS) return;
    this.#pause ??= new Promise((resolve) => {
      this.clock.after(0, () => {
        this.#pausedAt = this.clock.now();
        this.#pause = undefined;
        resolve();
      });
    });
    return this.#pause;
  }

  #withTimeout<T>(page: Promise<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      const late = () => reject(new StoreUnavailable('the event store did not answer in time'));
      const cancel = this.clock.after(this.pageTimeoutMs, late);
      page.then(resolve, reject).finally(cancel);
    });
  }

  #queueOf({ pages }: Load): Turn[] {
    if (pages === 0) return this.#unstarted;
    return pages < SHORT_PAGES ? this.#started : this.#long;
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
      this.#started.shift() ??
      this.#unstarted.shift() ??
      this.#long.shift()
    );
  }

  #isWorthwhile(load: Load): boolean {
    if (load.wanted()) return true;
    if (load.pages < SHORT_PAGES) return load.pages > 0;
    return this.#long.filter((turn) => !turn.load.wanted()).length < MAX_UNWANTED;
  }
}
