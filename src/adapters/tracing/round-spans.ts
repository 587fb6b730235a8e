import { type Context, ROOT_CONTEXT, type Span, TraceFlags, trace } from '@opentelemetry/api';
import { type RoundTracer, type StreamName, partsOf } from '../../event-sourcing';
import type { Spans } from './spans';

/** A span per round that has a sampled request. It is the child of one of them, and linked to the others. */
export class RoundSpans implements RoundTracer<Span | undefined> {
  /** The rounds in flight: at most one per stream. `undefined` for a round that has no span. */
  readonly #rounds = new Map<StreamName, Context | undefined>();

  constructor(
    private readonly spans: Spans,
    private readonly nameOf: (user: string) => string,
  ) {}

  origin(): Span | undefined {
    return trace.getActiveSpan();
  }

  start(stream: StreamName, origins: readonly (Span | undefined)[]): (fault?: unknown) => void {
    const [parent, ...others] = origins.filter(isSampled);
    if (parent === undefined) {
      this.#rounds.set(stream, undefined);
      return () => void this.#rounds.delete(stream);
    }
    const context = trace.setSpan(ROOT_CONTEXT, parent);
    const { category, id } = partsOf(stream);
    const attributes = {
      'plant_store.round.requests': origins.length,
      'plant_store.category': category,
      'user.hash': this.nameOf(id),
    };
    const links = others.map((request) => ({ context: request.spanContext() }));
    const span = this.spans.start('round', { attributes, links }, context);
    this.#rounds.set(stream, trace.setSpan(context, span));
    return (fault) => {
      this.#rounds.delete(stream);
      this.spans.end(span, fault);
    };
  }

  /**
   * The context of the stream's round in flight; `undefined` if that has no span. A load may outlive the round that
   * started it, and has the root context then.
   */
  contextOf(stream: StreamName): Context | undefined {
    return this.#rounds.has(stream) ? this.#rounds.get(stream) : ROOT_CONTEXT;
  }
}

function isSampled(span: Span | undefined): span is Span {
  return span !== undefined && (span.spanContext().traceFlags & TraceFlags.SAMPLED) !== 0;
}
