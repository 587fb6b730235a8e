import { type Context, type Span, SpanKind, context, trace } from '@opentelemetry/api';
import type { EncodedEvent, EventStore, Head, StreamName } from '../../event-sourcing';
import type { Spans } from './spans';

/** Wraps an event store: a span per call of a round that has a span, as its child. */
export class TracedStore implements EventStore {
  constructor(
    private readonly store: EventStore,
    /** The database, as `db.system.name` has it. */
    private readonly system: string,
    private readonly spans: Spans,
    private readonly contextOf: (stream: StreamName) => Context | undefined,
  ) {}

  read(stream: StreamName, after: Head) {
    return this.#traced('read', stream, () => this.store.read(stream, after));
  }

  append(stream: StreamName, expected: Head, commit: string, events: readonly EncodedEvent[]) {
    return this.#traced('append', stream, () => this.store.append(stream, expected, commit, events));
  }

  #traced<T extends { readonly status: string }>(
    operation: 'read' | 'append',
    stream: StreamName,
    call: () => Promise<T>,
  ): Promise<T> {
    const parent = this.contextOf(stream);
    if (parent === undefined) return call();
    const attributes = { 'db.system.name': this.system, 'db.operation.name': operation };
    const span = this.spans.start(operation, { kind: SpanKind.CLIENT, attributes }, parent);
    return span.isRecording() ? this.#recorded(span, trace.setSpan(parent, span), call) : call();
  }

  async #recorded<T extends { readonly status: string }>(
    span: Span,
    active: Context,
    call: () => Promise<T>,
  ): Promise<T> {
    try {
      const result = await context.with(active, call);
      span.setAttribute('plant_store.outcome', result.status);
      this.spans.end(span);
      return result;
    } catch (error) {
      this.spans.end(span, error);
      throw error;
    }
  }
}
