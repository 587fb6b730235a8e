import Koa from 'koa';
import compose from 'koa-compose';
import {
  type Authenticator,
  AuthenticationUnavailable,
  OutcomeUnknown,
  type PlantStore,
  StoreUnavailable,
  type User,
} from '../../application';
import { type Answer, failure, failureOf, send } from './answer';
import type { Serve } from './connection';
import { docsRoutes, findSwaggerUi } from './docs-routes';
import { healthRoutes } from './health-routes';
import type { ListAnswers } from './list-answers';
import { LongAnswers } from './long-answers';
import { metricsRoute } from './metrics-route';
import type { MetricsSource } from './metrics-source';
import { plantsRoutes } from './plants-routes';
import { HttpProblem, PROBLEMS } from './problems';
import type { Readiness } from './readiness';
import { requestIdOf, traceparentOf } from './request';
import { parseTarget } from './request-target';
import { type RetryAfter, retryAfterWith } from './retry-after';
import { rootRoute } from './root-route';
import type { Context, RequestState } from './routes';
import { UserAdmission } from './user-admission';
import { requireWellFormed } from './well-formed';

/** What the edge tells about a request once its answer is decided. Nothing in it comes from the client unchecked. */
export interface RequestReport {
  readonly requestId: string;
  /** Absent where no request could be made out. */
  readonly method?: string;
  /** The pattern of the route that served it, such as `/plants/:id`; absent where none did. One of a few. */
  readonly route?: string | undefined;
  readonly status: number;
  readonly durationMs?: number;
  /** Who asked, where that is known. */
  readonly user?: User | undefined;
  /** By which a trace goes on through this service, where it is well-formed (W3C Trace Context). */
  readonly traceparent?: string | undefined;
  /** Only where the service is to blame. */
  readonly error?: unknown;
}

export interface AppOptions {
  readonly plants: PlantStore;
  readonly authenticator: Authenticator;
  readonly lists: ListAnswers;
  /** Bytes. */
  readonly bodyLimit: number;
  /** Requests of one user in flight at a time; more are refused. Unbounded by default. */
  readonly maxUserRequests?: number;
  /** Milliseconds from the start of a list's request to its answer; 2000 by default. */
  readonly storeTimeoutMs?: number;
  /** Source of the jitter in `Retry-After`: from 0 to below 1. `Math.random` by default. */
  readonly random?: () => number;
  /** Within how long a request must have arrived whole; and how long a client may stop reading its answer. */
  readonly requestTimeoutMs: number;
  readonly report: (request: RequestReport) => void;
  /** Served at `/metrics`, where there are any. */
  readonly metrics?: MetricsSource;
  /** What the event store does. */
  readonly ready: () => Promise<Readiness>;
  /** Whether the service is about to end. */
  readonly draining: () => boolean;
}

const NOT_READY: Readiness = { reads: false, writes: false };

/**
 * The HTTP interface, whole. Of Koa it has the contexts and the middleware. The
 * answers are values here, and sent in one place; Koa's own response, which would
 * take them one by one from the context, is not asked.
 */
export function createApp(options: AppOptions): (...asked: Parameters<Serve>) => Promise<void> {
  const app = new Koa<RequestState>();
  const { maxUserRequests = Infinity, storeTimeoutMs = 2000, random = Math.random } = options;
  const retryAfter = retryAfterWith(random);
  const admission = new UserAdmission(maxUserRequests);
  app.use(plantsRoutes({ ...options, admission, storeTimeoutMs, retryAfter }));
  app.use(healthRoutes(async () => (options.draining() ? NOT_READY : options.ready()), retryAfter));
  if (options.metrics) app.use(metricsRoute(options.metrics));
  app.use(rootRoute());
  app.use(docsRoutes(findSwaggerUi()));
  const route = compose(app.middleware) as (ctx: Context) => Promise<Answer | undefined>;

  const { requestTimeoutMs, report } = options;
  const long = new LongAnswers();
  return async function answer(request, response, client) {
    const start = performance.now();
    const ctx = app.createContext<RequestState>(request, response);
    let fault: unknown;
    try {
      requireWellFormed(request);
      ctx.state = parseTarget(request.url!);
      const answer = (await route(ctx)) ?? failure(PROBLEMS.noSuchPath);
      if (Buffer.isBuffer(answer.body)) long.lend(answer.body, response);
      send(response, answer, client.isLast());
    } catch (error) {
      // An answer that cannot be sent is a fault like others.
      const answer = failureOf(asProblem(error, retryAfter));
      if (answer.status >= 500) fault = error;
      send(response, answer, client.isLast());
    }
    const { user, admitted } = ctx.state;
    client.user = user;
    // Who takes nothing of his answer for so long is cut off. Most have taken all of it by now.
    const reading = request.socket.writableLength > 0 && !response.destroyed;
    if (reading) response.setTimeout(requestTimeoutMs);
    if (admitted && reading) response.once('close', () => admission.leave(user!));
    else if (admitted) admission.leave(user!);
    report({
      requestId: requestIdOf(request),
      method: ctx.method,
      route: ctx.state.route,
      status: response.statusCode,
      durationMs: performance.now() - start,
      user,
      traceparent: traceparentOf(request),
      error: fault,
    });
  };
}

function asProblem(error: unknown, retryAfter: RetryAfter): HttpProblem {
  if (error instanceof HttpProblem) return error;
  if (error instanceof OutcomeUnknown)
    return new HttpProblem(PROBLEMS.outcomeUnknown, undefined, retryAfter());
  if (error instanceof StoreUnavailable || error instanceof AuthenticationUnavailable) {
    const ms = error instanceof StoreUnavailable ? error.retryAfterMs : undefined;
    return new HttpProblem(PROBLEMS.storeUnavailable, undefined, retryAfter(ms));
  }
  return new HttpProblem(PROBLEMS.bug);
}
