import { history, type HistorySource } from '../loading/history';
import type { Load, LoadQueue } from '../loading/load-queue';
import { ArchivedHistory, checkPage, HistoryChanged } from '../loading/replay';
import type { ReadInTurn, StreamSnapshots } from '../loading/stream-snapshots';
import type { EventPage, EventStore, Head, ReadResult } from '../ports/event-store';
import type { StreamName } from '../ports/stream-name';
import type { StreamCalls } from './stream-calls';
import type { StreamState } from './stream-state';

interface HistoryLoaderOptions<State> {
  readonly stream: StreamName;
  readonly store: EventStore;
  readonly calls: StreamCalls;
  readonly queue: LoadQueue;
  readonly snapshots: StreamSnapshots<State> | undefined;
  /** Whether a request waits for the state. */
  readonly wanted: () => boolean;
  /** Called when a load has ended, in the same turn, whether or not it was complete. */
  readonly ended: () => void;
}

/**
 * Brings the state of one stream to the end of its history, in pages that a {@link LoadQueue} admits. There is one load
 * at a time: it continues after the requests that started it have expired, and later requests join it, so no page is
 * read twice.
 */
export class HistoryLoader<State> implements Load, HistorySource<State> {
  pages = 0;
  expectedAt = -Infinity;
  /** Pages requested by all loads so far. */
  pagesRead = 0;
  readonly snapshots: StreamSnapshots<State> | undefined;
  #loading: Promise<boolean> | undefined;

  constructor(
    private readonly state: StreamState<never, unknown, unknown, State>,
    private readonly options: HistoryLoaderOptions<State>,
  ) {
    this.snapshots = options.snapshots;
  }

  get loading(): boolean {
    return this.#loading !== undefined;
  }

  /** After how many milliseconds a request that expired should be retried; `undefined` if unknown. */
  retryAfterMs(): number | undefined {
    return this.loading ? this.options.queue.retryAfterMs(this) : undefined;
  }

  wanted(): boolean {
    return this.options.wanted();
  }

  readonly inTurn: ReadInTurn = (read) => this.options.queue.read(this, read);

  readonly read = (after: Head): Promise<ReadResult> =>
    this.inTurn(() => {
      this.pagesRead++;
      return this.options.store.read(this.options.stream, after);
    });

  /** Applies newer events. True if none was left at some moment after the call began. */
  async catchUp(): Promise<boolean> {
    const { state } = this;
    if (!state.caughtUp) return this.load();
    const result = await this.options.calls.read(state.head);
    if (result.status === 'read') return this.applyNewer(result);
    if (result.status === 'archived') return this.reload();
    state.loseHistory();
    return false;
  }

  /** Applies the newer events of a read or a conflict, and loads the rest. Resolves as {@link catchUp} does. */
  async applyNewer(newer: EventPage): Promise<boolean> {
    // It does not come from `history`, which checks its pages.
    checkPage(this.state.head, newer);
    this.state.apply(newer);
    return newer.more ? this.load() : true;
  }

  /** Starts over, and loads. Resolves as {@link catchUp} does. */
  reload(): Promise<boolean> {
    this.state.startOver();
    return this.load();
  }

  /**
   * Waits for the current load, or starts one, until every request of the round has expired. False if the state started
   * over. Rejects with the error of reading or applying a page, or with `StoreUnavailable` if the queue dropped the load.
   * Pages that were applied stay applied.
   */
  load(): Promise<boolean> {
    if (this.#loading === undefined) {
      this.#loading = this.#run();
      // If no request waits for it, the next one meets the error again.
      this.#loading.catch(() => {});
    }
    return this.options.calls.waitFor(this.#loading);
  }

  async #run(): Promise<boolean> {
    const { state } = this;
    const { queue, ended } = this.options;
    let complete = false;
    queue.began();
    try {
      for await (const step of history(this, state.head, !state.caughtUp)) {
        if ('state' in step) state.replaceBy(step);
        else {
          state.apply(step);
          if (step.more) await queue.pauseIfDue();
        }
      }
      return (complete = true);
    } catch (error) {
      if (error instanceof HistoryChanged) state.loseHistory();
      // At the beginning it may be the incomplete state of a snapshot.
      else if (error instanceof ArchivedHistory || state.head.version === 0) state.startOver();
      if (error instanceof HistoryChanged || error instanceof ArchivedHistory) return false;
      throw error;
    } finally {
      // All in one turn: between them, the state could be evicted.
      this.#loading = undefined;
      this.pages = 0;
      queue.ended(complete);
      ended();
    }
  }
}
