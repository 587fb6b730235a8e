import type { StreamName } from './stream-name';

/** Port: traces rounds, and which requests each of them serves. Called synchronously; no method may throw. */
export interface RoundTracer<Origin = unknown> {
  /** What identifies the request that arrives now, such as its span. */
  origin(): Origin;
  /** A round starts that serves the requests with these origins. The result is called at its end, with its fault. */
  start(stream: StreamName, origins: readonly Origin[]): (fault?: unknown) => void;
}
