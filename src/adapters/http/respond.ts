import type { Context } from 'koa';
import { type Headers, type Problem, problemBody } from './problems';

/** What every answer carries; one that may be kept says so itself. */
export function everyAnswersFields(requestId: string): Headers {
  return {
    'X-Request-Id': requestId,
    'X-Content-Type-Options': 'nosniff',
    'Cache-Control': 'no-store',
  };
}

/** Answers with a JSON text. HEAD gets the same header, and Koa leaves the body out. */
export function respondJson(ctx: Context, status: number, json: string | Buffer): void {
  ctx.status = status;
  // Set before the body, or Koa would add a charset, which application/json does not have (RFC 8259, 11).
  ctx.set('Content-Type', 'application/json');
  ctx.body = json;
}

export function respondProblem(
  ctx: Context,
  problem: Problem,
  message?: string,
  headers: Headers = {},
): void {
  ctx.set(headers);
  respondJson(ctx, problem.status, problemBody(problem, message));
}
