import {
  type EncodedEvent,
  type EventStore,
  type Head,
  type Notify,
  OutcomeUnknown,
  StoreUnavailable,
  type StreamName,
} from '../../event-sourcing';

/** Called after every call: `outcome` is the status of the result, `unavailable`, `unknown` or `bug`. */
type CallObserver = (operation: 'read' | 'append', outcome: string, seconds: number) => void;

/** Wraps an event store and measures the duration of its calls. */
export class MeasuredStore implements EventStore {
  readonly notify: Notify | undefined;

  constructor(
    private readonly store: EventStore,
    private readonly observe: CallObserver,
  ) {
    this.notify = store.notify?.bind(store);
  }

  read(stream: StreamName, after: Head) {
    return this.#timed('read', this.store.read(stream, after));
  }

  append(stream: StreamName, expected: Head, commit: string, events: readonly EncodedEvent[]) {
    return this.#timed('append', this.store.append(stream, expected, commit, events));
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
      this.observe(operation, outcome, (performance.now() - start) / 1000);
    }
  }
}
