import { type TracerProvider, trace } from '@opentelemetry/api';

/** The methods of a provider that the API's type does not have. */
interface Provider extends TracerProvider {
  /** The API's own provider has one: that of the SDK. */
  getDelegate?(): TracerProvider;
  forceFlush?(): Promise<void>;
}

/** Exports the spans that the registered SDK still has. Rejects if that fails; does nothing without an SDK. */
export async function flushSpans(): Promise<void> {
  const registered = trace.getTracerProvider() as Provider;
  const sdk: Provider = registered.getDelegate?.() ?? registered;
  await sdk.forceFlush?.();
}
