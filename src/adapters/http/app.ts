import { randomUUID } from 'node:crypto';
import Koa, { type Context, type Next } from 'koa';
import {
  type Authenticator,
  AuthenticationUnavailable,
  OutcomeUnknown,
  type PlantStore,
  StoreUnavailable,
} from '../../application';
import { authentication } from './authentication';
import { plantsRoutes } from './plants-routes';
import { HttpProblem, PROBLEMS } from './problems';
import { respondProblem } from './respond';
import { requireWellFormed } from './well-formed';

/** What the edge tells about a request once its answer is decided. Nothing in it comes from the client unchecked. */
export interface RequestReport {
  readonly requestId: string;
  readonly method: string;
  readonly status: number;
  readonly durationMs: number;
  /** Only where the service is to blame. */
  readonly error?: unknown;
}

export interface AppOptions {
  readonly plants: PlantStore;
  readonly authenticator: Authenticator;
  /** Bytes. */
  readonly bodyLimit: number;
  readonly report: (request: RequestReport) => void;
  /** Whether the service is about to end: every answer then closes its connection. */
  readonly draining: () => boolean;
}

const REQUEST_ID = /^[A-Za-z0-9._-]{1,64}$/;
/** Seconds. A store that is back serves again within two. */
const RETRY_AFTER = '1';

/** The HTTP interface, whole: what each middleware wraps stands below it. */
export function createApp(options: AppOptions): Koa {
  const app = new Koa();
  app.use(answerEverything(options));
  app.use(onlyUnderPlants(authentication(options.authenticator)));
  app.use(plantsRoutes(options));
  return app;
}

/** Gives every answer its common header, and every failure its body. */
function answerEverything({ report, draining }: AppOptions): Koa.Middleware {
  return async function answer(ctx: Context, next: Next): Promise<void> {
    const start = performance.now();
    const sentId = ctx.get('X-Request-Id');
    const requestId = REQUEST_ID.test(sentId) ? sentId : randomUUID();
    let fault: unknown;
    ctx.set('X-Request-Id', requestId);
    ctx.set('X-Content-Type-Options', 'nosniff');
    ctx.set('Cache-Control', 'no-store');
    try {
      requireWellFormed(ctx.req);
      await next();
      if (ctx.status === 404) throw new HttpProblem(PROBLEMS.noSuchPath);
    } catch (error) {
      const problem = asProblem(error);
      if (problem.problem.status >= 500) fault = error;
      respondProblem(ctx, problem.problem, problem.message, problem.headers);
    }
    if (draining()) ctx.set('Connection', 'close');
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
  const retry = { 'Retry-After': RETRY_AFTER };
  if (error instanceof OutcomeUnknown) return new HttpProblem(PROBLEMS.outcomeUnknown, undefined, retry);
  if (error instanceof StoreUnavailable || error instanceof AuthenticationUnavailable) {
    return new HttpProblem(PROBLEMS.storeUnavailable, undefined, retry);
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
