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

  fail(error: unknown): void {
    if (this.settled) return;
    this.settled = true;
    this.reject(error);
  }

  expire(): void {
    this.fail(
      this.inDoubt
        ? new OutcomeUnknown('the event store did not confirm the write in time')
        : new StoreUnavailable('the event store did not answer in time'),
    );
  }
}
