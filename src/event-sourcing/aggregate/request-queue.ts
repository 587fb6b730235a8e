import type { Clock } from '../ports/clock';
import { OutcomeUnknown, StoreUnavailable } from '../ports/faults';
import type { RoundTracer } from '../ports/round-tracer';

/** A limit on bytes, shared by several owners. */
export class ByteBudget {
  #used = 0;

  constructor(readonly max: number) {}

  get used(): number {
    return this.#used;
  }

  /** Takes `bytes` until they are released; false, without effect, if they exceed the limit. */
  take(bytes: number): boolean {
    if (this.#used + bytes > this.max) return false;
    this.#used += bytes;
    return true;
  }

  release(bytes: number): void {
    this.#used -= bytes;
  }
}

/** Settles a request's promise. */
export interface Caller<Decided> {
  readonly answer: (decision: Decided) => void;
  readonly reject: (error: unknown) => void;
}

/** A command or a query in a round. */
export class RoundRequest<Command, Decided> {
  settled = false;
  /** Whether an append with this request's events may have been recorded, or may still be. */
  inDoubt = false;

  constructor(
    readonly command: Command | undefined,
    /** Memory of the command, in bytes. */
    readonly bytes: number,
    readonly deadline: number,
    /** See {@link RoundTracer}; `undefined` without one. */
    readonly origin: unknown,
    private readonly caller: Caller<Decided>,
    /** Called once, when the request is settled. */
    private readonly release: (bytes: number) => void,
  ) {}

  /** @param decision on the command; `undefined` for a query. */
  succeed(decision: Decided | undefined): void {
    if (!this.#settle()) return;
    try {
      this.caller.answer(decision!);
    } catch (error) {
      // An error of this request's view does not fail the others.
      this.caller.reject(error);
    }
  }

  /** @param cause why the round failed. A request that is in doubt rejects with {@link OutcomeUnknown}. */
  fail(cause: unknown): void {
    if (this.#settle()) this.caller.reject(this.inDoubt ? asUnknown(cause) : asUnavailable(cause));
  }

  /** @param retryAfterMs when the history is likely to be loaded, in ms from now; `undefined` if it is loaded. */
  expire(retryAfterMs: number | undefined): void {
    const reason = retryAfterMs === undefined ? 'store' : 'loading';
    this.fail(
      this.inDoubt
        ? new OutcomeUnknown('the event store did not confirm the write in time')
        : new StoreUnavailable('the event store did not answer in time', { reason, retryAfterMs }),
    );
  }

  #settle(): boolean {
    if (this.settled) return false;
    this.settled = true;
    this.release(this.bytes);
    return true;
  }
}

function asUnknown(cause: unknown): OutcomeUnknown {
  return cause instanceof OutcomeUnknown
    ? cause
    : new OutcomeUnknown('the write may have been recorded', { cause });
}

/** A request without events wrote nothing, even if the outcome of the others is unknown. */
function asUnavailable(cause: unknown): unknown {
  return cause instanceof OutcomeUnknown ? new StoreUnavailable('the round failed', { cause }) : cause;
}

interface RequestQueueOptions {
  readonly clock: Clock;
  readonly timeoutMs: number;
  readonly maxWaiting: number;
  readonly commandBytes: ByteBudget | undefined;
  readonly tracer: RoundTracer | undefined;
  /** After how many milliseconds an expired request should be retried; `undefined` if unknown. */
  readonly retryAfterMs: () => number | undefined;
  /** Called when every request of the round has expired. */
  readonly abandoned: () => void;
}

/** Shared by all idle queues, because the garbage collector copies small arrays that live for long. Never changed. */
const NONE: never[] = [];

/** Memory limit of the commands of one round, in bytes; a single command may exceed it. */
export const MAX_ROUND_BYTES = 2 ** 20;

/**
 * The requests of one aggregate: those of the round in flight, and those that wait for the next. Bounded in number
 * and bytes. Every request is settled by its deadline.
 */
export class RequestQueue<Command, Decided> {
  #waiting: RoundRequest<Command, Decided>[] = NONE;
  /** Memory of the commands that wait. */
  #waitingBytes = 0;
  #round: readonly RoundRequest<Command, Decided>[] = NONE;
  #timerSet = false;

  constructor(private readonly options: RequestQueueOptions) {}

  readonly #release = (bytes: number): void => this.options.commandBytes?.release(bytes);

  get waitingBytes(): number {
    return this.#waitingBytes;
  }

  /** Number of requests that wait for the next round. */
  get waiting(): number {
    return this.#waiting.length;
  }

  /** Memory of the commands of the round in flight, in bytes. */
  get roundBytes(): number {
    return this.#round.reduce((sum, { bytes }) => sum + bytes, 0);
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

  /** Adds a request; returns why it is refused, or `undefined`. */
  add(command: Command | undefined, bytes: number, caller: Caller<Decided>): StoreUnavailable | undefined {
    const { clock, timeoutMs, maxWaiting, commandBytes, tracer } = this.options;
    if (this.#waiting.length >= maxWaiting)
      return new StoreUnavailable('too many requests are waiting for the event store', {
        reason: 'waiting_requests',
      });
    if (commandBytes?.take(bytes) === false)
      return new StoreUnavailable('the commands that are waiting for the event store take too much memory', {
        reason: 'waiting_commands',
      });
    const deadline = clock.now() + timeoutMs;
    const origin = tracer?.origin();
    const request = new RoundRequest(command, bytes, deadline, origin, caller, this.#release);
    if (this.#waiting.length === 0) this.#waiting = [request];
    else this.#waiting.push(request);
    this.#waitingBytes += bytes;
    this.#watchDeadlines();
    return undefined;
  }

  /** Starts a round with the oldest requests: all of them, or as many as fit into {@link MAX_ROUND_BYTES}. */
  takeRound(): readonly RoundRequest<Command, Decided>[] {
    let count = this.#waiting.length;
    let bytes = this.#waitingBytes;
    while (count > 1 && bytes > MAX_ROUND_BYTES) bytes -= this.#waiting[--count]!.bytes;
    const round = this.#waiting;
    this.#waiting = count === round.length ? NONE : round.splice(count);
    this.#waitingBytes -= bytes;
    return (this.#round = round);
  }

  endRound(): void {
    this.#round = NONE;
  }

  /**
   * One timer serves all requests: they have the same timeout, so the oldest
   * unsettled one expires first.
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
    if (this.#round.length > 0 && !this.roundIsPending) abandoned();
  }
}
