import { randomUUID } from 'node:crypto';
import { STATUS_CODES } from 'node:http';
import Koa from 'koa';
import { type Context, type Handler, sendJson } from '../context';
import { HttpFailure, FAILURES, isDisconnect, malformedHttp, toFailure } from '../failures';

/**
 * Turns everything that a later middleware throws into a failure, and answers with a 404 if no
 * middleware has answered.
 */
export function errors(): Handler {
  return async (ctx, next) => {
    try {
      await next();
      const isAnswered =
        ctx.res.statusCode !== 404 || ctx.body !== undefined || ctx.respond === false;
      if (!isAnswered) fail(ctx, new HttpFailure(FAILURES.noSuchPath));
    } catch (error) {
      if (error instanceof HttpFailure) fail(ctx, error);
      // Nobody receives this response. It keeps the report from showing a bug.
      else if (!ctx.writable && isDisconnect(error)) fail(ctx, malformedHttp());
      else if (isLeftToKoa(ctx, error)) {
        // Koa sends a 500 instead of a status that has no name.
        const sent = STATUS_CODES[error.status] === undefined ? 500 : error.status;
        const status = ctx.headerSent ? ctx.status : sent;
        // Koa emits the error, so the report does not have it.
        ctx.state.failure = { status, ...(status >= 500 && { reason: 'bug' }) };
        // Koa replaces the header fields of the response by those of the error.
        error.headers = { ...error.headers, 'X-Request-Id': ensureRequestId(ctx) };
        throw error;
      } else fail(ctx, toFailure(error), error);
    }
  };
}

interface KoaError extends Error {
  readonly status: number;
  headers?: Readonly<Record<string, string>>;
}

/**
 * Returns whether Koa answers with the status of this error, because another middleware has called
 * `ctx.throw(403)` or the like. Koa also does so for any other error that has a status, for example
 * one of koa-bodyparser. Here only middleware that got the request from the app may throw such
 * errors: the status in an error of a store or of an authenticator was not meant for this client.
 */
function isLeftToKoa(ctx: Context, error: unknown): error is KoaError {
  if (error instanceof Koa.HttpError) return true;
  if (ctx.state.isPassedOn !== true || !(error instanceof Error)) return false;
  const { status = 0 } = error as { readonly status?: unknown };
  return Number.isInteger(status) && Number(status) >= 400 && Number(status) < 600;
}

function fail(
  ctx: Context,
  { failure, status, message, details }: HttpFailure,
  cause?: unknown,
): void {
  const { headers, reason, retryAfterMs } = details;
  ctx.status = status;
  if (ctx.status !== status) {
    // Koa ignores the new status, because the rest of the request was refused meanwhile and the
    // client has that response. A bug is reported nevertheless.
    if (failure === FAILURES.bug) ctx.state.failure = { reason, cause };
    return;
  }
  ctx.state.failure = { errorNumber: failure.error, reason, cause };
  // These fields describe the response that the failure replaces.
  ctx.remove('ETag');
  ctx.remove('Content-Encoding');
  ctx.set({ 'Cache-Control': 'no-store', ...headers });
  ensureRequestId(ctx);
  if (status === 429 || status === 503)
    ctx.set('Retry-After', String(retryAfterSeconds(retryAfterMs)));
  sendJson(ctx, JSON.stringify({ error: failure.error, message }));
}

function ensureRequestId(ctx: Context): string {
  if (!ctx.res.hasHeader('X-Request-Id')) ctx.set('X-Request-Id', randomUUID());
  return ctx.response.get('X-Request-Id');
}

/**
 * Returns the seconds for `Retry-After`: the given time, or one second, plus a random jitter. The
 * jitter is at most a quarter of the time, or one second if that is longer, and keeps clients from
 * coming back at the same time.
 */
export function retryAfterSeconds(ms = 1000, random: () => number = Math.random): number {
  const seconds = Math.max(1, Math.ceil(ms / 1000));
  return seconds + Math.floor(random() * (Math.max(1, Math.floor(seconds / 4)) + 1));
}
