/** Traces with OpenTelemetry, by its API only: the operator loads the SDK. */
import type { EventStore } from '../../event-sourcing';
import { RequestSpans } from './request-spans';
import { RoundSpans } from './round-spans';
import { Spans } from './spans';
import { TracedStore } from './traced-store';

export { flushSpans } from './flush';

interface TracingOptions {
  /** The version of the service. */
  readonly version: string;
  /** Pseudonym of a user. */
  readonly nameOf: (user: string) => string;
  /** The database of the event store, as `db.system.name` has it. */
  readonly system: string;
}

export interface Tracing {
  readonly requests: RequestSpans;
  readonly rounds: RoundSpans;
  /** Wraps `store` to trace its calls. */
  traced(store: EventStore): EventStore;
}

/** Traces with the OpenTelemetry SDK that is registered now; `undefined` if there is none. */
export function registeredTracing({ version, nameOf, system }: TracingOptions): Tracing | undefined {
  const spans = Spans.registered(version);
  if (spans === undefined) return undefined;
  const rounds = new RoundSpans(spans, nameOf);
  return {
    requests: new RequestSpans(spans, nameOf),
    rounds,
    traced: (store) => new TracedStore(store, system, spans, (stream) => rounds.contextOf(stream)),
  };
}
