/** The options of the app, and its reports. Without Koa's types, so that they can be used without them. */
import type { Authenticator, PlantStore, RequestReport, RequestTracer, Stores } from '../../application';
import { DEFAULT_TIMEOUT_MS, type StoreStatus } from '../../event-sourcing';

/** The defaults of the options, also those of the service's configuration. */
export const HTTP_DEFAULTS = {
  host: '127.0.0.1',
  maxConnections: 4096,
  maxUserRequests: 2048,
  maxSentBytes: 128 * 2 ** 20,
  bodyLimit: 65_536,
  requestTimeoutMs: 15_000,
  storeTimeoutMs: DEFAULT_TIMEOUT_MS,
} as const;

/** The operations on plants are always served, those on other kinds of aggregates where it has their use cases. */
export interface AppOptions extends Partial<Stores> {
  readonly plants: PlantStore;
  readonly authenticator: Authenticator;
  /** The origins whose pages may use the interface in a browser (CORS), or `*` for all; none by default. */
  readonly corsOrigins?: readonly string[];
  /** Maximum length of a body in bytes; 65,536 by default. */
  readonly bodyLimit?: number;
  /** Maximum number of requests of one user in flight; 2,048 by default. */
  readonly maxUserRequests?: number;
  /** Maximum memory of long lists that are being sent, in bytes; 128 MiB by default. */
  readonly maxSentBytes?: number;
  /** Maximum time from the start of a list request to its response, in milliseconds; 2,000 by default. */
  readonly storeTimeoutMs?: number;
  /** Called once per request. By default a failure of the service is emitted as the app's `error` event. */
  readonly report?: (request: RequestReport) => void;
  /** By default requests are not traced. */
  readonly tracer?: RequestTracer | undefined;
  /** Served at `/metrics`; absent by default. */
  readonly metrics?: MetricsSource;
  /** The folder of the package swagger-ui-dist, which is served at `/docs`; absent by default. */
  readonly swaggerUi?: string;
  /** Whether the event store can be read and written now; by default both. */
  readonly ready?: () => Promise<Readiness>;
  /** Random source of the jitter in `Retry-After`, from 0 to below 1; `Math.random` by default. */
  readonly random?: () => number;
}

/** The options of the admin app; see {@link AppOptions}. */
export interface AdminOptions extends Pick<AppOptions, 'report'> {
  readonly metrics: MetricsSource;
  readonly ready: () => Promise<Readiness>;
}

export interface HttpServerOptions {
  /** 127.0.0.1 by default. */
  readonly host?: string;
  /** 0, the default, selects a free port. */
  readonly port?: number;
  /** Maximum number of open connections; 4,096 by default. */
  readonly maxConnections?: number;
  /**
   * `refuse`, the default, closes a new connection beyond `maxConnections`. `close-oldest` accepts it, and closes the
   * oldest idle one, or the oldest if none is idle.
   */
  readonly whenFull?: 'refuse' | 'close-oldest';
  /**
   * Milliseconds within which a request must have arrived, and for which a client may stop reading its answer; 15,000
   * by default.
   */
  readonly requestTimeoutMs?: number;
  /** Called for refused bytes that are not a request to the app. */
  readonly report?: (request: RequestReport) => void;
}

/** What works at present. */
export interface Readiness extends Pick<StoreStatus, 'reads' | 'writes'> {
  /** Why reads or writes do not work: words from a bounded set, the most important one first. */
  readonly reasons?: readonly string[];
}

/** Metrics in Prometheus' text format. */
export interface MetricsSource {
  readonly contentType: string;
  text(): Promise<string>;
}
