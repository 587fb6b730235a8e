import {
  type Attributes,
  type Context,
  type Span,
  SpanKind,
  context,
  isSpanContextValid,
  propagation,
  trace,
} from '@opentelemetry/api';
import type { RequestReport, RequestTrace, RequestTracer, SentRequest } from '../../application';
import type { Spans } from './spans';

/** Activates no context: from the first one on, Node tracks the context of every promise. */
const UNRECORDED: RequestTrace = { traceparent: undefined, run: (serve) => serve(), end: () => {} };

/** A span per request, by OpenTelemetry's semantic conventions for HTTP servers. */
export class RequestSpans implements RequestTracer {
  /** The header fields that have the caller's span. */
  readonly #fields = propagation.fields().map((field) => field.toLowerCase());

  constructor(
    private readonly spans: Spans,
    private readonly nameOf: (user: string) => string,
  ) {}

  /** The parent is the active span, such as that of an instrumented `node:http`; without one, the caller's. */
  start(request: SentRequest): RequestTrace {
    const active = context.active();
    const isNested = trace.getSpan(active) !== undefined;
    const hasCaller = !isNested && this.#fields.some((field) => request.headers[field] !== undefined);
    const parent = hasCaller ? propagation.extract(active, request.headers) : active;
    // An instrumented `node:http` has made the span of kind SERVER.
    const kind = isNested ? SpanKind.INTERNAL : SpanKind.SERVER;
    const method = KNOWN_METHODS.has(request.method) ? request.method : 'HTTP';
    const span = this.spans.start(method, { kind, attributes: attributesOf(request) }, parent);
    if (!span.isRecording()) return UNRECORDED;
    return new RecordedRequest(span, method, parent, this.spans, this.nameOf);
  }
}

class RecordedRequest implements RequestTrace {
  readonly traceparent: string | undefined;
  readonly #context: Context;

  constructor(
    private readonly span: Span,
    private readonly method: string,
    parent: Context,
    private readonly spans: Spans,
    private readonly nameOf: (user: string) => string,
  ) {
    this.#context = trace.setSpan(parent, span);
    this.traceparent = traceparentOf(span);
  }

  run<T>(serve: () => T): T {
    return context.with(this.#context, serve);
  }

  end({ route, status, user, error }: RequestReport): void {
    if (route !== undefined)
      this.span.updateName(`${this.method} ${route}`).setAttribute('http.route', route);
    if (user !== undefined) this.span.setAttribute('user.hash', this.nameOf(user));
    this.span.setAttribute('http.response.status_code', status);
    this.spans.end(this.span, status >= 500 ? (error ?? status) : undefined);
  }
}

/** The methods of RFC 9110 and RFC 5789, as the conventions require. */
const KNOWN_METHODS = new Set([
  ...['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'CONNECT', 'OPTIONS', 'TRACE', 'PATCH'],
]);

/** What is known before a request is served, so that a sampler can decide by it. */
function attributesOf({ method, target, headers }: SentRequest): Attributes {
  const isKnown = KNOWN_METHODS.has(method);
  return {
    'http.request.method': isKnown ? method : '_OTHER',
    ...(!isKnown && { 'http.request.method_original': method }),
    'url.scheme': 'http',
    'url.path': pathOf(target),
    ...serverOf(headers['host']),
  };
}

/** The path of a request target in origin-form or absolute-form. */
function pathOf(target: string): string {
  return target.replace(/^https?:\/\/[^/?#]*/i, '').replace(/[?#].*$/s, '') || '/';
}

/** @param host such as `plants.example`, `plants.example:8080` or `[::1]:3000`. */
function serverOf(host: string | string[] | undefined): Attributes {
  const [, address, port] = (typeof host === 'string' && /^(\[.*\]|[^:]+)(?::(\d+))?$/.exec(host)) || [];
  if (address === undefined) return {};
  return { 'server.address': address, ...(port !== undefined && { 'server.port': Number(port) }) };
}

/** W3C Trace Context, 3.2. */
function traceparentOf(span: Span): string | undefined {
  const spanContext = span.spanContext();
  if (!isSpanContextValid(spanContext)) return undefined;
  const { traceId, spanId, traceFlags } = spanContext;
  return `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, '0')}`;
}
