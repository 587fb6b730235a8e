import { type Context, SpanKind, context, trace } from '@opentelemetry/api';
import type { EncodedEvent, EventStore, Head, StreamName } from '../../event-sourcing';
import type { Spans } from './spans';

/** Wraps an event store: a span per call, which is the child of the stream's round. */
export class TracedStore implements EventStore {
  constructor(
    private readonly store: EventStore,
    /** The database, as `db.system.name` has it. */
    private readonly system: string,
    private readonly spans: Spans,
    private readonly contextOf: (stream: StreamName) => Context,
  ) {}

  read(stream: StreamName, after: Head) {
    return this.#traced('read', stream, () => this.store.read(stream, after));
  }

  append(stream: StreamName, expected: Head, commit: string, events: readonly EncodedEvent[]) {
    return this.#traced('append', stream, () => this.store.append(stream, expected, commit, events));
  }

  async #traced<T extends { readonly status: string }>(
    operation: 'read' | 'append',
    stream: StreamName,
    call: () => Promise<T>,
  ): Promise<T> {
    const parent = this.contextOf(stream);
    const attributes = { 'db.system.name': this.system, 'db.operation.name': operation };
    const span = this.spans.start(operation, { kind: SpanKind.CLIENT, attributes }, parent);
    try {
      const result = await context.with(trace.setSpan(parent, span), call);
      span.setAttribute('plant_store.outcome', result.status);
      this.spans.end(span);
      return result;
    } catch (error) {
      this.spans.end(span, error);
      throw error;
    }
  }
}
