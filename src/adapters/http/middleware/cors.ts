import cors from '@koa/cors';
import type { Handler } from '../context';
import { METHODS } from '../operations';

const INTERFACE_FIELDS = [
  'Authorization',
  'Content-Type',
  'If-Match',
  'If-None-Match',
  'X-Request-Id',
];
/** Tracers of browsers add these to every request. */
const TRACING_FIELDS = ['baggage', 'sentry-trace', 'traceparent', 'tracestate'];

type Step = (...request: Parameters<Handler>) => Promise<unknown>;

interface CrossOrigin {
  readonly addFields: Step;
  readonly answerPreflight: Step;
}

/**
 * Lets pages of these origins, or of every origin with `*`, use the interface. They may never send
 * the credentials of the browser, such as cookies.
 *
 * The two steps are separate, because the fields must be added before a request waits (see
 * `createApp`), whereas a preflight waits for its turn and is reported like any other request.
 */
export function crossOrigin(origins: readonly string[]): CrossOrigin {
  const allow = (origin: string): Step =>
    cors({
      origin,
      // A page cannot read the response to its own OPTIONS, because @koa/cors adds fields to those of
      // a preflight only.
      allowMethods: METHODS.filter((method) => method !== 'OPTIONS'),
      allowHeaders: [...INTERFACE_FIELDS, ...TRACING_FIELDS],
      exposeHeaders: ['ETag', 'Link', 'Retry-After', 'WWW-Authenticate', 'X-Request-Id'],
      maxAge: 86_400,
    });
  // @koa/cors would await a function that chooses the origin. Meanwhile the next request of the
  // connection could overtake this one.
  const allowed = new Map(origins.map((origin) => [origin, allow(origin)]));
  const handle: Step = (ctx, next) => {
    const handler = allowed.get('*') ?? allowed.get(ctx.get('Origin'));
    if (handler) return handler(ctx, next);
    ctx.vary('Origin');
    return next();
  };
  return {
    addFields: (ctx, next) => (ctx.method === 'OPTIONS' ? next() : handle(ctx, next)),
    answerPreflight: (ctx, next) => (ctx.method === 'OPTIONS' ? handle(ctx, next) : next()),
  };
}
