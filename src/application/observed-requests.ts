/** What a transport reports of its requests, to logs, metrics and traces. */
import type { User } from './user';

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
  /** The span of the request; without a tracer the caller's, if its header field is well-formed (W3C Trace Context). */
  readonly traceparent?: string | undefined;
  /** The number of the error in the body of the response; absent if that is no failure of the contract. */
  readonly errorNumber?: number | undefined;
  /** Why the request got 401, 429 or 5xx, from a bounded set. */
  readonly reason?: string | undefined;
  /** Present only for a fault of the service. */
  readonly error?: unknown;
}

/** Port: traces requests. No method may throw. */
export interface RequestTracer {
  start(request: SentRequest): RequestTrace;
}

/** A request as the client sent it. */
export interface SentRequest {
  readonly method: string;
  readonly target: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
}

/** The trace of one request. */
export interface RequestTrace {
  /** The span of the request (W3C Trace Context); `undefined` if it has none. */
  readonly traceparent: string | undefined;
  /** Calls `serve`. The span is the active one in it, and in all that it starts. */
  run<T>(serve: () => T): T;
  /** Called once, when the response is known. */
  end(request: RequestReport): void;
}
