import type { Command } from '../domain';
import type { ByteBudget } from './byte-budget';
import type { Clock } from './clock';
import { StoreUnavailable } from './event-store';
import { type Caller, RoundRequest } from './round-request';

export interface RequestQueueOptions {
  readonly clock: Clock;
  readonly timeoutMs: number;
  readonly maxWaiting: number;
  readonly commandBytes: ByteBudget | undefined;
  /** In how many milliseconds a request that has run out of time should be repeated, where that is known. */
  readonly retryAfterMs: () => number | undefined;
  /** The time of every request of the round has run out. */
  readonly abandoned: () => void;
}

/** What the commands of one round hold at most, unless it is one command. */
const MAX_ROUND_BYTES = 2 ** 20;

/**
 * The requests of one collection: those of the round in flight, and those that wait for the next. Bounded in number
 * and bytes, and each settled by its deadline.
 */
export class RequestQueue {
  #waiting: RoundRequest[] = [];
  /** What the commands that wait hold. */
  #waitingBytes = 0;
  #round: readonly RoundRequest[] = [];
  #timerSet = false;

  constructor(private readonly options: RequestQueueOptions) {}

  readonly #release = (bytes: number): void => this.options.commandBytes?.release(bytes);

  get waitingBytes(): number {
    return this.#waitingBytes;
  }

  get isEmpty(): boolean {
    return this.#waiting.length === 0;
  }

  /** Whether any request waits for an answer. */
  get pending(): boolean {
    return this.#waiting.length > 0 || this.roundIsPending;
  }

  get roundIsPending(): boolean {
    return this.#round.some(({ settled }) => !settled);
  }

  /** Why the request is refused, where it is. */
  add(command: Command | undefined, bytes: number, caller: Caller): StoreUnavailable | undefined {
    const { clock, timeoutMs, maxWaiting, commandBytes } = this.options;
    if (this.#waiting.length >= maxWaiting)
      return new StoreUnavailable('too many requests are waiting for the event store');
    if (commandBytes?.take(bytes) === false)
      return new StoreUnavailable('the commands that are waiting for the event store take too much memory');
    this.#waiting.push(new RoundRequest(command, bytes, clock.now() + timeoutMs, caller, this.#release));
    this.#waitingBytes += bytes;
    this.#watchDeadlines();
    return undefined;
  }

  /** Begins a round with the requests that have waited longest: all of them, or as many as a round may hold. */
  takeRound(): readonly RoundRequest[] {
    let count = this.#waiting.length;
    let bytes = this.#waitingBytes;
    while (count > 1 && bytes > MAX_ROUND_BYTES) bytes -= this.#waiting[--count]!.bytes;
    const round = this.#waiting;
    this.#waiting = count === round.length ? [] : round.splice(count);
    this.#waitingBytes -= bytes;
    return (this.#round = round);
  }

  endRound(): void {
    this.#round = [];
  }

  /**
   * One timer for all requests: they all have the same time, so the oldest
   * unsettled one is the next to run out of it.
   */
  #watchDeadlines(): void {
    if (this.#timerSet) return;
    const oldest = this.#round.find((request) => !request.settled) ?? this.#waiting[0];
    if (oldest === undefined) return;
    this.#timerSet = true;
    const { clock } = this.options;
    clock.after(Math.max(0, oldest.deadline - clock.now()), () => {
      this.#timerSet = false;
      this.#expire(clock.now());
      this.#watchDeadlines();
    });
  }

  #expire(now: number): void {
    const { retryAfterMs, abandoned } = this.options;
    for (const request of this.#round) if (request.deadline <= now) request.expire(retryAfterMs());
    const inTime = this.#waiting.findIndex((request) => request.deadline > now);
    const late = this.#waiting.splice(0, inTime === -1 ? this.#waiting.length : inTime);
    for (const request of late) {
      this.#waitingBytes -= request.bytes;
      request.expire(retryAfterMs());
    }
    if (!this.roundIsPending) abandoned();
  }
}
