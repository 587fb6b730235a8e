import { type EventStore, OutcomeUnknown, StoreUnavailable } from '../../application';

/** Told of every call that was answered or failed: a result's status, `unavailable`, `unknown` or `bug`. */
export type Told = (operation: 'read' | 'append', outcome: string, seconds: number) => void;

/** Any event store, its calls timed. Changes nothing about them. */
export class MeasuredStore implements EventStore {
  constructor(
    private readonly store: EventStore,
    private readonly tell: Told,
  ) {}

  read(...asked: Parameters<EventStore['read']>) {
    return this.#timed('read', this.store.read(...asked));
  }

  append(...asked: Parameters<EventStore['append']>) {
    return this.#timed('append', this.store.append(...asked));
  }

  async #timed<T extends { readonly status: string }>(
    operation: 'read' | 'append',
    call: Promise<T>,
  ): Promise<T> {
    const start = performance.now();
    let outcome = 'bug';
    try {
      const result = await call;
      outcome = result.status;
      return result;
    } catch (error) {
      if (error instanceof StoreUnavailable) outcome = 'unavailable';
      else if (error instanceof OutcomeUnknown) outcome = 'unknown';
      throw error;
    } finally {
      this.tell(operation, outcome, (performance.now() - start) / 1000);
    }
  }
}
