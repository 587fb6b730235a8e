/** Registers an OpenTelemetry SDK. To be loaded before the service, see `npm start`. */
import {
  BatchSpanProcessor,
  NodeTracerProvider,
  type ReadableSpan,
  type SpanExporter,
} from '@opentelemetry/sdk-trace-node';

/** Writes spans as lines of JSON to standard error. Standard output has the log. */
class SpanLines implements SpanExporter {
  export(spans: ReadableSpan[], done: Parameters<SpanExporter['export']>[1]): void {
    for (const span of spans) {
      const { traceId, spanId } = span.spanContext();
      const parent = span.parentSpanContext?.spanId;
      const [seconds, nanoseconds] = span.duration;
      const ms = seconds * 1000 + nanoseconds / 1e6;
      console.error(
        JSON.stringify({ name: span.name, traceId, spanId, parent, ms, attributes: span.attributes }),
      );
    }
    done({ code: 0 });
  }

  shutdown(): Promise<void> {
    return Promise.resolve();
  }
}

// Before the service ends, it exports the spans that the batch still has.
new NodeTracerProvider({ spanProcessors: [new BatchSpanProcessor(new SpanLines())] }).register();
