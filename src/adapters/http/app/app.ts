import Koa from 'koa';
import type { RequestReport, RequestTracer } from '../../../application';
import { clientOf } from '../server/served-response';
import { Lists } from '../lists/lists';
import { type OperationId, type UserOperationId, isOfUser } from '../openapi/operations';
import { type AdminOptions, type AppOptions, HTTP_DEFAULTS } from '../options';
import { crossOrigin } from './cors';
import { plantHandlers } from './plants';
import { HttpProblem, PROBLEMS, failureReason, problemOf, retryAfterSeconds } from './problems';
import { ReceivedBodies } from './received-bodies';
import { requestIdOf, requireWellFormed, traceparentOf } from './request';
import { json } from './response';
import { type Context, type Handlers, LeanKoa, otherMethods, routeOf, routerOf } from './koa';
import { operatorHandlers, serviceHandlers } from './service';
import { users } from './users';

/** The app, with the memory of its lists and bodies. */
export interface App extends Koa {
  readonly lists: {
    /** Bytes of cached texts of lists. */
    readonly bytes: number;
    /** The long responses that are being sent, and the bytes that they take. */
    readonly sent: { readonly responses: number; readonly bytes: number };
  };
  readonly bodies: {
    /** Memory of the bodies that are being received. */
    readonly bytes: number;
  };
}

/**
 * The HTTP interface as a Koa application. `listen` serves it, and so does any HTTP/1 server of Node with its
 * `callback()`. koa-mount mounts it under a path of another application. A request with an unknown path is passed to
 * the next middleware, and gets a 404 if none answers it.
 */
export function createApp(options: AppOptions): App {
  const { plants, authenticator, metrics, swaggerUi, random = Math.random, corsOrigins = [] } = options;
  const { bodyLimit = HTTP_DEFAULTS.bodyLimit, storeTimeoutMs = HTTP_DEFAULTS.storeTimeoutMs } = options;
  const { maxUserRequests = HTTP_DEFAULTS.maxUserRequests, maxSentBytes = HTTP_DEFAULTS.maxSentBytes } =
    options;
  const { ready = async () => ({ reads: true, writes: true }), report = emitFault, tracer } = options;

  const lists = new Lists(maxSentBytes);
  const bodies = new ReceivedBodies();
  const app = Object.assign(new LeanKoa(), { lists, bodies });
  app.use(commonResponse(report, random, tracer));
  if (corsOrigins.length > 0) app.use(crossOrigin(corsOrigins));
  app.use(users(authenticator, maxUserRequests));
  const handlers: Partial<Handlers<UserOperationId>> = {
    ...plantHandlers({ plants, lists, bodies, bodyLimit, storeTimeoutMs }),
  };
  const isServed = (id: OperationId) =>
    isOfUser(id) ? handlers[id] !== undefined : id !== 'metrics' || metrics !== undefined;
  addRoutes(app, handlers, serviceHandlers({ ready, metrics, swaggerUi, isServed }));
  return app;
}

/** Health and metrics as a Koa application, for a port that clients cannot reach. */
export function createAdminApp(options: AdminOptions): Koa {
  const { metrics, ready, report = emitFault } = options;
  const app = new LeanKoa();
  app.use(commonResponse(report, Math.random, undefined));
  addRoutes(app, operatorHandlers({ ready, metrics }));
  return app;
}

/** @param groups each has a router of its own, which the later ones do not slow down. */
function addRoutes(app: Koa, ...groups: readonly Partial<Handlers<OperationId>>[]): void {
  const routers = groups.map(routerOf);
  for (const router of routers) app.use(router.routes());
  app.use(otherMethods(...routers));
}

type ReportRequest = (request: RequestReport, ctx: Context) => void;

/** Emits the error like Koa, which prints it if there is no listener. */
const emitFault: ReportRequest = ({ error }, ctx) => {
  if (error !== undefined) ctx.app.emit('error', error, ctx);
};

/** The common part of all responses: header fields, the problem of a failed or unanswered request, a trace and a report. */
function commonResponse(report: ReportRequest, random: () => number, tracer: RequestTracer | undefined) {
  return async (ctx: Context, next: () => Promise<unknown>): Promise<void> => {
    const start = performance.now();
    const { req, res } = ctx;
    const trace = tracer?.start({ method: req.method!, target: ctx.originalUrl, headers: req.headers });
    const requestId = requestIdOf(req);
    ctx.set('X-Request-Id', requestId);
    ctx.set('X-Content-Type-Options', 'nosniff');
    let status: number | undefined;
    let failed: Failed | undefined;
    try {
      requireWellFormed(ctx);
      await (trace ? trace.run(next) : next());
      if (!isAnswered(ctx)) throw new HttpProblem(PROBLEMS.noSuchPath);
    } catch (error) {
      if (error instanceof Koa.HttpError) {
        // Thrown for Koa by the next middleware: `ctx.throw(403)`.
        ({ status } = error);
        if (status >= 500) failed = { reason: failureReason(error), error };
        throw error;
      }
      failed = fail(ctx, error, random);
    } finally {
      // Responses that may be cached have set the field.
      if (!res.hasHeader('Cache-Control')) ctx.set('Cache-Control', 'no-store');
      const { user } = ctx.state;
      const client = clientOf(res);
      if (client) client.user = user;
      const answered: RequestReport = {
        requestId,
        method: ctx.request.method,
        route: routeOf(ctx),
        status: status ?? res.statusCode,
        durationMs: performance.now() - start,
        user,
        traceparent: trace?.traceparent ?? traceparentOf(req),
        ...failed,
      };
      trace?.end(answered);
      report(answered, ctx);
    }
  };
}

function isAnswered(ctx: Context): boolean {
  return ctx.res.statusCode !== 404 || ctx.body !== undefined || ctx.respond === false;
}

type Failed = Pick<RequestReport, 'errorNumber' | 'reason' | 'error'>;

/** Sets the problem of `error` as the response. Returns what the report has about it. */
function fail(ctx: Context, error: unknown, random: () => number): Failed {
  const { problem, status, headers, body } = problemOf(error);
  ctx.status = status;
  ctx.set({ 'Cache-Control': 'no-store', ...headers });
  if (status === 429 || status === 503) ctx.set('Retry-After', String(retryAfterSeconds(error, random)));
  json(ctx, body);
  return {
    errorNumber: problem.error,
    reason: failureReason(error),
    error: status >= 500 && !(error instanceof HttpProblem) ? error : undefined,
  };
}
