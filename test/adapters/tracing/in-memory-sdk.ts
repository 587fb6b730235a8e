import { context, propagation, trace } from '@opentelemetry/api';
import {
  InMemorySpanExporter,
  NodeTracerProvider,
  type ReadableSpan,
  type Sampler,
  SimpleSpanProcessor,
  type SpanProcessor,
} from '@opentelemetry/sdk-trace-node';

export interface SdkOptions {
  readonly sampler?: Sampler;
  /** Replaces the one that exports to memory. */
  readonly processor?: SpanProcessor;
}

/** An OpenTelemetry SDK for this process, as an operator registers it, which keeps the ended spans. */
export class InMemorySdk {
  readonly #exporter = new InMemorySpanExporter();
  readonly #provider: NodeTracerProvider;

  constructor({ sampler, processor }: SdkOptions = {}) {
    this.#provider = new NodeTracerProvider({
      ...(sampler && { sampler }),
      spanProcessors: [processor ?? new SimpleSpanProcessor(this.#exporter)],
    });
    this.#provider.register();
  }

  /** The spans that have ended, in the order of their ends. */
  get spans(): readonly ReadableSpan[] {
    return this.#exporter.getFinishedSpans();
  }

  async close(): Promise<void> {
    await this.#provider.shutdown();
    trace.disable();
    context.disable();
    propagation.disable();
  }
}
