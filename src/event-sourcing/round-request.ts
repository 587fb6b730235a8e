import { OutcomeUnknown, StoreUnavailable } from './event-store';

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
    /** See `RoundTracer`; `undefined` without one. */
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

  /** @param retryAfterMs after how many milliseconds the history is likely to be loaded; `undefined` if it is. */
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
