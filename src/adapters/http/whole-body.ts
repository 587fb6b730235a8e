import { finished } from 'node:stream/promises';
import type { Context, Next } from 'koa';
import { HttpProblem, malformedHttp } from './problems';

/**
 * Reads a body to its end with `read`. Until then a request may still turn out
 * malformed or late, and be answered so past Koa; it then must not be carried
 * out any more, for a refused request has changed nothing.
 */
export async function readWhole(ctx: Context, read: () => Promise<unknown>): Promise<void> {
  requireUnanswered(ctx);
  // HTTP/1.0 does not know of 100 (RFC 9110, 10.1.1).
  if (ctx.req.headers.expect !== undefined && ctx.req.httpVersionMinor === 1) ctx.res.writeContinue();
  try {
    await read();
  } catch (error) {
    throw error instanceof HttpProblem ? error : incomplete();
  }
  requireUnanswered(ctx);
}

/** Waits for the end of a body that means nothing to the operation, and drops it. */
export async function noBody(ctx: Context, next: Next): Promise<void> {
  await readWhole(ctx, () => finished(ctx.req.resume()));
  await next();
}

function requireUnanswered(ctx: Context): void {
  if (!ctx.writable) throw incomplete();
}

/** Nobody reads this: the client has gone away, or was answered already. */
function incomplete(): HttpProblem {
  return malformedHttp('the body ended before its announced length');
}
