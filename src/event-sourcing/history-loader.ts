import type { Load, LoadQueue } from './load-queue';
import { BEGINNING, type EventPage, type Head, headOf, type ReadResult } from './ports/event-store';
import { UnreadableHistory } from './ports/faults';
import { checkPage } from './replay';
import type { ReadInTurn } from './stream-snapshots';

/** The aggregate whose history is loaded. */
export interface LoadTarget {
  /** The head to read after. */
  readonly head: () => Head;
  readonly read: (after: Head) => Promise<ReadResult>;
  /** Replaces the state by that of a snapshot, if one is ahead of `version`. An error that it throws ends the load. */
  readonly restore: (version: number, read: ReadInTurn) => Promise<void>;
  /** Replaces the state by that of the base. An error that it throws ends the load. */
  readonly restoreBase: (read: ReadInTurn) => Promise<void>;
  /** Applies a page. An error that it throws ends the load. */
  readonly apply: (page: EventPage) => void;
  /** The history up to the head was lost: the target starts over. */
  readonly reset: () => void;
  readonly startOver: () => void;
  /** Whether a request waits for the load. */
  readonly wanted: () => boolean;
  /** The load has ended; `complete` if it reached the end of the history. */
  readonly ended: (complete: boolean) => void;
}

/**
 * Loads one stream's history, in pages that a {@link LoadQueue} admits. There is one load at a time: it continues
 * after the requests that started it have expired, and later requests join it, so no page is read twice.
 */
export class HistoryLoader implements Load {
  pages = 0;
  expectedAt = -Infinity;
  /** Pages requested by all loads so far. */
  pagesRead = 0;
  #loading: Promise<boolean> | undefined;
  readonly #readInTurn: ReadInTurn = (read) => this.queue.read(this, read);

  constructor(
    private readonly queue: LoadQueue,
    private readonly target: LoadTarget,
  ) {}

  get loading(): boolean {
    return this.#loading !== undefined;
  }

  /**
   * Reads to the end of the history; false if the target started over. Rejects with the error of reading or applying a
   * page, or with `StoreUnavailable` if the queue dropped the load. Pages that were applied stay applied.
   */
  load(): Promise<boolean> {
    if (this.#loading === undefined) {
      this.#loading = this.#run();
      // If no request waits for it, the next one meets the error again.
      this.#loading.catch(() => {});
    }
    return this.#loading;
  }

  /** After how many milliseconds a request that expired during the load should be retried. */
  retryAfterMs(): number {
    return this.queue.retryAfterMs(this);
  }

  wanted(): boolean {
    return this.target.wanted();
  }

  async #run(): Promise<boolean> {
    let complete = false;
    this.queue.began();
    try {
      return (complete = await this.#readPages());
    } finally {
      this.#loading = undefined;
      this.pages = 0;
      this.queue.ended(complete);
      this.target.ended(complete);
    }
  }

  async #readPages(): Promise<boolean> {
    for (let reading = this.#firstPage(); ;) {
      const page = await reading;
      if (page.status !== 'read') {
        if (page.status === 'reset') this.target.reset();
        else this.target.startOver();
        return false;
      }
      checkPage(this.target.head(), page);
      const end = page.more ? headOf(page.events.at(-1)!) : undefined;
      // Prefetched while this page is decoded and applied. If that throws, a failed prefetch must not go unhandled.
      const next = end && this.#read(end);
      next?.catch(() => {});
      this.target.apply(page);
      if (next === undefined) return true;
      await this.queue.pauseIfDue();
      reading = next;
    }
  }

  /** The page after the head. If others follow it, a snapshot is looked for, and the page is that after the snapshot. */
  async #firstPage(): Promise<ReadResult> {
    const head = this.target.head();
    const page = await this.#read(head);
    if (page.status === 'archived' && head.version === 0) return this.#firstPageAfterBase();
    if (page.status !== 'read' || !page.more) return page;
    checkPage(head, page);
    const next = await this.#firstPageAfterSnapshot(page.events.at(-1)!.version);
    if (next !== undefined) return next;
    return this.target.head() === head ? page : this.#read(BEGINNING);
  }

  /** The page after the newest snapshot; `undefined` if none ahead of `version` can be used. */
  async #firstPageAfterSnapshot(version: number): Promise<ReadResult | undefined> {
    const before = this.target.head();
    await this.target.restore(version, this.#readInTurn);
    if (this.target.head() === before || this.target.head().version === 0) return undefined;
    const page = await this.#read(this.target.head());
    if (page.status === 'read') return page;
    this.target.reset();
    return undefined;
  }

  /** The page after the newest snapshot, or else after the base. */
  async #firstPageAfterBase(): Promise<ReadResult> {
    const afterSnapshot = await this.#firstPageAfterSnapshot(BEGINNING.version);
    if (afterSnapshot !== undefined) return afterSnapshot;
    for (let known = BEGINNING; ; known = this.target.head()) {
      await this.target.restoreBase(this.#readInTurn);
      const { version, commit } = this.target.head();
      const page = await this.#read({ version, commit });
      if (page.status === 'read') return page;
      // A newer base may have replaced it meanwhile.
      if (known.version < version) continue;
      this.target.startOver();
      throw new UnreadableHistory(
        `the history does not have the head of its base snapshot, version ${version}`,
      );
    }
  }

  #read(after: Head): Promise<ReadResult> {
    return this.queue.read(this, () => {
      this.pagesRead++;
      return this.target.read(after);
    });
  }
}
