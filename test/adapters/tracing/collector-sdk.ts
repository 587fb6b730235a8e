/** An OpenTelemetry SDK as an operator registers it, loaded by Node before the service. COLLECTOR gets the names of the spans. */
import {
  BatchSpanProcessor,
  NodeTracerProvider,
  type ReadableSpan,
  type SpanExporter,
} from '@opentelemetry/sdk-trace-node';

const collector: SpanExporter = {
  export(spans: readonly ReadableSpan[], done: (result: { readonly code: number }) => void) {
    const body = JSON.stringify(spans.map(({ name }) => name));
    void fetch(process.env['COLLECTOR']!, { method: 'POST', body }).then(({ ok }) =>
      done({ code: ok ? 0 : 1 }),
    );
  },
  shutdown: () => Promise.resolve(),
};

new NodeTracerProvider({ spanProcessors: [new BatchSpanProcessor(collector)] }).register();
