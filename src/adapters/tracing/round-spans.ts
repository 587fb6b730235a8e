import { type Context, ROOT_CONTEXT, type Span, TraceFlags, trace } from '@opentelemetry/api';
import { type RoundTracer, type StreamName, partsOf } from '../../event-sourcing';
import type { Spans } from './spans';

/** A span per round. It is the child of one of the requests that it serves, and linked to the others. */
export class RoundSpans implements RoundTracer<Span | undefined> {
  /** The rounds in flight: at most one per stream. */
  readonly #rounds = new Map<StreamName, Context>();

  constructor(
    private readonly spans: Spans,
    private readonly nameOf: (user: string) => string,
  ) {}

  origin(): Span | undefined {
    return trace.getActiveSpan();
  }

  start(stream: StreamName, origins: readonly (Span | undefined)[]): (fault?: unknown) => void {
    const requests = origins.filter((span) => span !== undefined);
    // So that the round is recorded if any of its requests is.
    const parent = requests.find(isSampled) ?? requests[0];
    const context = parent ? trace.setSpan(ROOT_CONTEXT, parent) : ROOT_CONTEXT;
    const span = this.spans.start(
      'round',
      {
        attributes: {
          'plant_store.round.requests': origins.length,
          'user.hash': this.nameOf(partsOf(stream).id),
        },
        links: requests
          .filter((request) => request !== parent)
          .map((request) => ({ context: request.spanContext() })),
      },
      context,
    );
    this.#rounds.set(stream, trace.setSpan(context, span));
    return (fault) => {
      this.#rounds.delete(stream);
      this.spans.end(span, fault);
    };
  }

  /** The context of the stream's round in flight. A load may outlive the round that started it. */
  contextOf(stream: StreamName): Context {
    return this.#rounds.get(stream) ?? ROOT_CONTEXT;
  }
}

function isSampled(span: Span): boolean {
  return (span.spanContext().traceFlags & TraceFlags.SAMPLED) !== 0;
}
