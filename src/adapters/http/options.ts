/** What the app is given, and what it tells. Free of Koa, so that it can be used without Koa's types. */
import type { Authenticator, PlantStore, User } from '../../application';

export interface AppOptions {
  readonly plants: PlantStore;
  readonly authenticator: Authenticator;
  /** Bytes of a body; 65,536 by default. */
  readonly bodyLimit?: number;
  /** Requests of one user in flight at a time, more are refused; 2,048 by default. */
  readonly maxUserRequests?: number;
  /** Milliseconds from the start of a list's request to its answer; 2,000 by default. */
  readonly storeTimeoutMs?: number;
  /** Called once per request. By default a failure of the service is emitted as the app's `error` event. */
  readonly report?: (request: RequestReport) => void;
  /** Served at `/metrics`; by default there is none. */
  readonly metrics?: MetricsSource;
  /** What the event store does now; by default reads and writes. */
  readonly ready?: () => Promise<Readiness>;
  /** Source of the jitter in `Retry-After`: from 0 to below 1. `Math.random` by default. */
  readonly random?: () => number;
}

export interface HttpServerOptions {
  /** 127.0.0.1 by default. */
  readonly host?: string;
  /** 0, the default, picks a free one. */
  readonly port?: number;
  /** More are refused; 4,096 by default. */
  readonly maxConnections?: number;
  /**
   * Milliseconds within which a request must have arrived, and for which a client may stop reading its answer; 15,000
   * by default.
   */
  readonly requestTimeoutMs?: number;
  /** Called where bytes are refused that are no request of the app's. */
  readonly report?: (request: RequestReport) => void;
}

/** A request whose answer is decided. Nothing in it comes from the client unchecked. */
export interface RequestReport {
  readonly requestId: string;
  /** Absent where the bytes were no request. */
  readonly method?: string;
  /** The pattern of the route that served it, such as `/plants/:id`; absent where none did. One of a few. */
  readonly route?: string | undefined;
  readonly status: number;
  readonly durationMs?: number;
  /** Absent where it has none, or failed before it was known. */
  readonly user?: User | undefined;
  /** The caller's trace, where its header field is well-formed (W3C Trace Context). */
  readonly traceparent?: string | undefined;
  /** Present only where the service is to blame. */
  readonly error?: unknown;
}

/** What the service can do now. */
export interface Readiness {
  readonly reads: boolean;
  readonly writes: boolean;
}

/** Metrics in a format of Prometheus. */
export interface MetricsSource {
  readonly contentType: string;
  text(): Promise<string>;
}
