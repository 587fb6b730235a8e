import cors from '@koa/cors';
import type { Middleware } from 'koa';
import { METHODS } from '../openapi/operations';
import type { State } from './koa';

/** What a script of another origin may read beside the body, and the fields that it may send. */
const EXPOSED = ['ETag', 'Link', 'Retry-After', 'WWW-Authenticate', 'X-Request-Id'];
const ALLOWED = [
  'Authorization',
  'Content-Type',
  'If-None-Match',
  'X-Request-Id',
  'traceparent',
  'tracestate',
];
/** Seconds for which a browser may remember a preflight; browsers have lower limits. */
const MAX_AGE = 86_400;

/**
 * Lets pages of these origins, or of all with `*`, use the interface, and answers their preflights. Never allows
 * credentials of the browser: a page sends its token itself.
 */
export function crossOrigin(origins: readonly string[]): Middleware<State> {
  const allowed = new Set(origins);
  return cors({
    origin: allowed.has('*') ? '*' : (ctx) => (allowed.has(ctx.get('Origin')) ? ctx.get('Origin') : ''),
    allowMethods: [...METHODS],
    allowHeaders: ALLOWED,
    exposeHeaders: EXPOSED,
    maxAge: MAX_AGE,
    // The fields of a failed response stay anyway. The errors are shared by requests, and must not keep them.
    keepHeadersOnError: false,
  });
}
