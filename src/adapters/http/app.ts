import { randomUUID } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import Koa, { type Context, type Next } from 'koa';
import {
  type Authenticator,
  AuthenticationUnavailable,
  OutcomeUnknown,
  type PlantStore,
  StoreUnavailable,
} from '../../application';
import { authentication } from './authentication';
import { healthRoutes } from './health-routes';
import { plantsRoutes } from './plants-routes';
import { HttpProblem, PROBLEMS, RETRY_SOON } from './problems';
import { originForm } from './request-target';
import { everyAnswersFields, respondProblem } from './respond';
import { requireWellFormed } from './well-formed';

/** What the edge tells about a request once its answer is decided. Nothing in it comes from the client unchecked. */
export interface RequestReport {
  readonly requestId: string;
  /** Absent where no request could be made out. */
  readonly method?: string;
  readonly status: number;
  readonly durationMs?: number;
  /** Only where the service is to blame. */
  readonly error?: unknown;
}

export interface AppOptions {
  readonly plants: PlantStore;
  readonly authenticator: Authenticator;
  /** Bytes. */
  readonly bodyLimit: number;
  /** Within how long a request must have arrived whole; and how long a client may stop reading its answer. */
  readonly requestTimeoutMs: number;
  readonly report: (request: RequestReport) => void;
  /** Whether the service is about to end. */
  readonly draining: () => boolean;
  /** Whether the connection is to end behind this answer. */
  readonly endsBehind: (response: ServerResponse) => boolean;
}

const REQUEST_ID = /^[A-Za-z0-9._-]{1,64}$/;
/** The HTTP interface, whole: what each middleware wraps stands below it. */
export function createApp(options: AppOptions): Koa {
  const app = new Koa();
  // All that Koa would print is that a client went away before its answer had reached it.
  app.silent = true;
  app.use(answerEverything(options));
  app.use(healthRoutes(async () => !options.draining()));
  app.use(onlyUnderPlants(authentication(options.authenticator)));
  app.use(plantsRoutes(options));
  return app;
}

/** Gives every answer its common header, and every failure its body. */
function answerEverything({ requestTimeoutMs, report, endsBehind }: AppOptions): Koa.Middleware {
  return async function answer(ctx: Context, next: Next): Promise<void> {
    const start = performance.now();
    const sentId = ctx.get('X-Request-Id');
    const requestId = REQUEST_ID.test(sentId) ? sentId : randomUUID();
    let fault: unknown;
    ctx.set(everyAnswersFields(requestId));
    try {
      requireWellFormed(ctx.req);
      ctx.url = originForm(ctx.url);
      await next();
      if (ctx.status === 404) throw new HttpProblem(PROBLEMS.noSuchPath);
    } catch (error) {
      const problem = asProblem(error);
      if (problem.problem.status >= 500) fault = error;
      respondProblem(ctx, problem.problem, problem.message, problem.headers);
    }
    if (endsBehind(ctx.res)) ctx.set('Connection', 'close');
    // Who takes nothing of his answer for so long is cut off.
    ctx.res.setTimeout(requestTimeoutMs);
    report({
      requestId,
      method: ctx.method,
      status: ctx.status,
      durationMs: performance.now() - start,
      ...(fault === undefined ? {} : { error: fault }),
    });
  };
}

function asProblem(error: unknown): HttpProblem {
  if (error instanceof HttpProblem) return error;
  if (error instanceof OutcomeUnknown) return new HttpProblem(PROBLEMS.outcomeUnknown, undefined, RETRY_SOON);
  if (error instanceof StoreUnavailable || error instanceof AuthenticationUnavailable) {
    return new HttpProblem(PROBLEMS.storeUnavailable, undefined, RETRY_SOON);
  }
  return new HttpProblem(PROBLEMS.bug);
}

/** Paths are exact and case-sensitive, so this is all of `/plants…` and nothing else. */
function onlyUnderPlants(middleware: Koa.Middleware): Koa.Middleware {
  return async (ctx, next) => {
    const under = ctx.path === '/plants' || ctx.path.startsWith('/plants/');
    await (under ? middleware(ctx, next) : next());
  };
}
