import type { IncomingMessage } from 'node:http';
import { ignoreErrors } from '../../../event-sourcing';
import type { Context, Handler } from '../context';
import type { RequestReport } from '../options';
import { findRefusal } from '../refusals';

export function report(tell: (request: RequestReport, ctx: Context) => void): Handler {
  const tellSafely = ignoreErrors(tell);
  return async (ctx, next) => {
    const start = performance.now();
    try {
      await next();
    } finally {
      const { user } = ctx.state;
      // The server may have refused the rest of this request meanwhile. Then the client got that
      // failure, but the reason and the cause of the app's own one are still reported.
      const refusal = findRefusal(ctx.res);
      const failure = refusal ? { ...ctx.state.failure, ...refusal } : ctx.state.failure;
      tellSafely(
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

/**
 * The form in W3C Trace Context, 3.2: version, trace, parent and flags in lower-case hex. A trace
 * or parent of zeros is invalid, and so is version ff.
 */
const TRACEPARENT = /^(?!ff)[0-9a-f]{2}-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}$/;

function readTraceparent({ headers: { traceparent } }: IncomingMessage): string | undefined {
  return typeof traceparent === 'string' && TRACEPARENT.test(traceparent) ? traceparent : undefined;
}
