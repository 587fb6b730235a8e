import { randomUUID } from 'node:crypto';
import Koa from 'koa';
import { type Context, type Handler, sendJson } from '../context';
import { HttpProblem, PROBLEMS, isDisconnect, malformedHttp, problemOf, statusOf } from '../problems';

/** Answers what is thrown, and what nothing else has answered. */
export function errors(): Handler {
  return async (ctx, next) => {
    try {
      await next();
      const isAnswered = ctx.res.statusCode !== 404 || ctx.body !== undefined || ctx.respond === false;
      if (!isAnswered) fail(ctx, new HttpProblem(PROBLEMS.noSuchPath));
    } catch (error) {
      if (error instanceof HttpProblem) fail(ctx, error);
      else if (!ctx.writable && isDisconnect(error)) fail(ctx, malformedHttp());
      // Thrown by another middleware for Koa, which answers it: `ctx.throw(403)`.
      else if (error instanceof Koa.HttpError) {
        const status = ctx.headerSent ? ctx.status : error.status;
        ctx.state.failure = { status, ...(status >= 500 && { error, reason: 'bug' }) };
        throw error;
      } else fail(ctx, problemOf(error), error);
    }
  };
}

/**
 * Makes a failure the response. It has an id, if the request has none.
 * @param error the fault of the service from which it comes, which is reported.
 */
function fail(ctx: Context, { problem, message, details }: HttpProblem, error?: unknown): void {
  const { headers, reason, retryAfterMs } = details;
  const status = statusOf(problem);
  ctx.status = status;
  if (ctx.status !== status) {
    // The rest of the request was refused meanwhile, and that is what its client was told. A bug is reported anyway.
    if (problem === PROBLEMS.bug) ctx.state.failure = { reason, error };
    return;
  }
  ctx.state.failure = { errorNumber: problem.error, reason, error };
  // They describe the response that it replaces.
  ctx.remove('ETag');
  ctx.remove('Content-Encoding');
  ctx.set({ 'Cache-Control': 'no-store', ...headers });
  if (!ctx.res.hasHeader('X-Request-Id')) ctx.set('X-Request-Id', randomUUID());
  if (status === 429 || status === 503) ctx.set('Retry-After', String(retryAfterSeconds(retryAfterMs)));
  sendJson(ctx, JSON.stringify({ error: problem.error, message }));
}

/** `Retry-After` in seconds: the time of the error, or one second, plus a jitter of up to a quarter, at least one second. */
export function retryAfterSeconds(ms = 1000, random: () => number = Math.random): number {
  const seconds = Math.max(1, Math.ceil(ms / 1000));
  return seconds + Math.floor(random() * (Math.max(1, Math.floor(seconds / 4)) + 1));
}
