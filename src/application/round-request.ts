import type { Command, Decision } from '../domain';
import { OutcomeUnknown, StoreUnavailable } from './event-store';

/** A command or a query on its way through a round. */
export class RoundRequest {
  settled = false;
  /** Set while an append that carries this request's event may have been, or may yet be, recorded. */
  inDoubt = false;

  constructor(
    readonly command: Command | undefined,
    readonly deadline: number,
    private readonly answer: (decision: Decision) => void,
    private readonly reject: (error: unknown) => void,
  ) {}

  /** @param decision on the command, where there is one. */
  succeed(decision: Decision | undefined): void {
    if (this.settled) return;
    this.settled = true;
    this.answer(decision!);
  }

  /** @param cause what the round ran into; what it means for this request depends on whether that is in doubt. */
  fail(cause: unknown): void {
    if (this.settled) return;
    this.settled = true;
    this.reject(this.inDoubt ? asUnknown(cause) : asUnavailable(cause));
  }

  expire(): void {
    this.fail(
      this.inDoubt
        ? new OutcomeUnknown('the event store did not confirm the write in time')
        : new StoreUnavailable('the event store did not answer in time'),
    );
  }
}

function asUnknown(cause: unknown): OutcomeUnknown {
  return cause instanceof OutcomeUnknown
    ? cause
    : new OutcomeUnknown('the write may have been recorded', { cause });
}

/** What failed for a request that wrote nothing has changed nothing, whatever became of the others. */
function asUnavailable(cause: unknown): unknown {
  return cause instanceof OutcomeUnknown ? new StoreUnavailable('the round failed', { cause }) : cause;
}
