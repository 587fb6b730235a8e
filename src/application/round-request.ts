import type { Command, Decision } from '../domain';
import { OutcomeUnknown, StoreUnavailable } from './event-store';

/** Settles a request's promise. */
export interface Caller {
  readonly answer: (decision: Decision) => void;
  readonly reject: (error: unknown) => void;
}

/** A command or a query on its way through a round. */
export class RoundRequest {
  settled = false;
  /** Set while an append that carries this request's event may have been, or may yet be, recorded. */
  inDoubt = false;

  constructor(
    readonly command: Command | undefined,
    /** What the command holds in memory, in bytes. */
    readonly bytes: number,
    readonly deadline: number,
    private readonly caller: Caller,
    /** Called once, when the request is settled. */
    private readonly release: (bytes: number) => void,
  ) {}

  /** @param decision on the command, where there is one. */
  succeed(decision: Decision | undefined): void {
    if (!this.#settle()) return;
    try {
      this.caller.answer(decision!);
    } catch (error) {
      // A view's own fault, and no other request's.
      this.caller.reject(error);
    }
  }

  /** @param cause what the round ran into; what it means for this request depends on whether that is in doubt. */
  fail(cause: unknown): void {
    if (this.#settle()) this.caller.reject(this.inDoubt ? asUnknown(cause) : asUnavailable(cause));
  }

  /** @param retryAfterMs in how many milliseconds a repetition is likely to succeed, where that is known. */
  expire(retryAfterMs: number | undefined): void {
    this.fail(
      this.inDoubt
        ? new OutcomeUnknown('the event store did not confirm the write in time')
        : new StoreUnavailable('the event store did not answer in time', { retryAfterMs }),
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

/** What failed for a request that wrote nothing has changed nothing, whatever the outcome of the others. */
function asUnavailable(cause: unknown): unknown {
  return cause instanceof OutcomeUnknown ? new StoreUnavailable('the round failed', { cause }) : cause;
}
