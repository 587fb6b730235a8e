import {
  type Context,
  INVALID_SPAN_CONTEXT,
  ProxyTracer,
  type Span,
  type SpanOptions,
  SpanStatusCode,
  type Tracer,
  diag,
  trace,
} from '@opentelemetry/api';

/**
 * Starts and ends spans. An error of the SDK goes to OpenTelemetry's diagnostics, so that it cannot fail or hang a
 * request.
 */
export class Spans {
  private constructor(private readonly tracer: Tracer) {}

  /** The spans of the SDK that is registered now; `undefined` if there is none. */
  static registered(version: string): Spans | undefined {
    const tracer = trace.getTracer('plant-store', version);
    // The API itself returns it, until an SDK is registered.
    return tracer instanceof ProxyTracer ? undefined : new Spans(tracer);
  }

  start(name: string, options: SpanOptions, parent: Context): Span {
    try {
      return this.tracer.startSpan(name, options, parent);
    } catch (error) {
      report(error);
      return NO_SPAN;
    }
  }

  /** @param fault marks the span as failed. */
  end(span: Span, fault?: unknown): void {
    try {
      if (fault !== undefined) fail(span, fault);
      span.end();
    } catch (error) {
      report(error);
    }
  }
}

const NO_SPAN = trace.wrapSpanContext(INVALID_SPAN_CONTEXT);

/** The type of the error is from a bounded set; its message, which may have values of a client, is left out. */
function fail(span: Span, fault: unknown): void {
  span.setAttribute('error.type', fault instanceof Error ? fault.name : String(fault));
  span.setStatus({ code: SpanStatusCode.ERROR });
}

function report(error: unknown): void {
  diag.error('a span of plant-store could not be started or ended', error);
}
