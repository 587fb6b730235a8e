import type { Context, Handler } from '../context';
import type { RequestReport } from '../options';
import { failureOfRest } from '../refusals';
import { readTraceparent } from './request-id';

export function report(tell: (request: RequestReport, ctx: Context) => void): Handler {
  return async (ctx, next) => {
    const start = performance.now();
    try {
      await next();
    } finally {
      const { user } = ctx.state;
      const restFailure = failureOfRest(ctx.res);
      const failure = restFailure ? { ...ctx.state.failure, ...restFailure } : ctx.state.failure;
      tell(
        {
          requestId: ctx.response.get('X-Request-Id') || undefined,
          method: ctx.req.method!,
          route: (ctx as { readonly _matchedRoute?: string })._matchedRoute,
          path: failure && ctx.url.split('?', 1)[0],
          status: ctx.res.statusCode,
          durationMs: performance.now() - start,
          user,
          traceparent: readTraceparent(ctx.req),
          ...failure,
        },
        ctx,
      );
    }
  };
}
