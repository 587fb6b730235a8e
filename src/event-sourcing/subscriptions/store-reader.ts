import type { Clock } from '../ports/clock';
import { isTransient, StoreUnavailable } from '../ports/faults';
import type { Cancellation } from './cancellation';

/** Interval of reads from a store that cannot notify or is unavailable, in ms. */
export const POLL_MS = 200;
/** Interval of reads from a store that notifies, in ms: a notification may be missed. */
export const CHECK_MS = 5000;
/** Longest time of a read, in ms: a store may never settle it if the reply was lost. */
const READ_MS = 10_000;

/** Calls `changed` once there may be more to read. May return a function that cancels the call. */
type NotifyChange = (changed: () => void) => (() => void) | undefined;

/** The result of `read`, or `undefined` once cancelled. Rejects with StoreUnavailable if it is not settled in time. */
export async function inTime<T>(
  clock: Clock,
  read: () => Promise<T>,
  cancellation: Cancellation,
): Promise<T | undefined> {
  let cancelTimer!: () => void;
  const expired = new Promise<never>((_, reject) => {
    // Made only then, because an error collects its stack.
    cancelTimer = clock.after(READ_MS, () => reject(new StoreUnavailable('the store does not answer')));
  });
  try {
    return await cancellation.unlessCancelled(Promise.race([read(), expired]));
  } finally {
    cancelTimer();
  }
}

/** Reads from a store as one follower does: one call at a time. */
export class StoreReader {
  #available = true;
  /** Whether the last wait ended by a notification. */
  #notified = false;

  constructor(
    private readonly clock: Clock,
    private readonly cancellation: Cancellation,
    /** Called with the first error of an outage. */
    private readonly reportUnavailable: ((error: StoreUnavailable) => void) | undefined,
  ) {}

  /** The result of `read`; `undefined` when cancelled, or a while after the store was unavailable. */
  async read<T>(read: () => Promise<T>): Promise<T | undefined> {
    try {
      const result = await inTime(this.clock, read, this.cancellation);
      this.#available = true;
      return result;
    } catch (error) {
      if (!isTransient(error)) throw error;
      if (this.#available) this.reportUnavailable?.(error);
      this.#available = false;
      await this.wait(error.retryAfterMs ?? POLL_MS);
      return undefined;
    }
  }

  /**
   * Resolves when there may be more to read, or when cancelled. `found` says whether the last read found something: a
   * store that notifies without a change may do so again at once, so the next read is then a poll.
   */
  async untilChanged(notify: NotifyChange | undefined, found: boolean): Promise<void> {
    const polls = notify === undefined || (this.#notified && !found);
    this.#notified = false;
    if (polls) return this.wait(POLL_MS);
    await this.wait(CHECK_MS, (end) =>
      notify(() => {
        this.#notified = true;
        end();
      }),
    );
  }

  /** Waits for `ms`, or for the call that `notify` arranges, or until cancelled. */
  async wait(ms: number, notify?: NotifyChange): Promise<void> {
    let end!: () => void;
    const ended = new Promise<void>((resolve) => (end = resolve));
    const cancelNotification = notify?.(end);
    const cancelTimer = this.clock.after(ms, end);
    await this.cancellation.unlessCancelled(ended);
    cancelTimer();
    cancelNotification?.();
  }
}
