/** The options of the app, and its reports. Without Koa's types, so that they can be used without them. */
import type { Authenticator, PlantStore, User } from '../../application';

export interface AppOptions {
  readonly plants: PlantStore;
  readonly authenticator: Authenticator;
  /** Maximum length of a body in bytes; 65,536 by default. */
  readonly bodyLimit?: number;
  /** Maximum number of requests of one user in flight; 2,048 by default. */
  readonly maxUserRequests?: number;
  /** Maximum time from the start of a list request to its response, in milliseconds; 2,000 by default. */
  readonly storeTimeoutMs?: number;
  /** Called once per request. By default a failure of the service is emitted as the app's `error` event. */
  readonly report?: (request: RequestReport) => void;
  /** Served at `/metrics`; absent by default. */
  readonly metrics?: MetricsSource;
  /** Whether the event store can be read and written now; by default both. */
  readonly ready?: () => Promise<Readiness>;
  /** Random source of the jitter in `Retry-After`, from 0 to below 1; `Math.random` by default. */
  readonly random?: () => number;
}

export interface HttpServerOptions {
  /** 127.0.0.1 by default. */
  readonly host?: string;
  /** 0, the default, selects a free port. */
  readonly port?: number;
  /** Maximum number of open connections; 4,096 by default. */
  readonly maxConnections?: number;
  /**
   * Milliseconds within which a request must have arrived, and for which a client may stop reading its answer; 15,000
   * by default.
   */
  readonly requestTimeoutMs?: number;
  /** Called for refused bytes that are not a request to the app. */
  readonly report?: (request: RequestReport) => void;
}

/** A request whose response is known. Everything from the client in it has been checked. */
export interface RequestReport {
  readonly requestId: string;
  /** Absent if the bytes were not a request. */
  readonly method?: string;
  /** The pattern of its route, such as `/plants/:id`; absent without a route. */
  readonly route?: string | undefined;
  readonly status: number;
  readonly durationMs?: number;
  /** Absent if it has no user, or failed before the user was known. */
  readonly user?: User | undefined;
  /** The caller's trace, if its header field is well-formed (W3C Trace Context). */
  readonly traceparent?: string | undefined;
  /** Present only for a fault of the service. */
  readonly error?: unknown;
}

/** What works at present. */
export interface Readiness {
  readonly reads: boolean;
  readonly writes: boolean;
}

/** Metrics in Prometheus' text format. */
export interface MetricsSource {
  readonly contentType: string;
  text(): Promise<string>;
}
