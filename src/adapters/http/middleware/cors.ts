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

/**
 * Lets pages of these origins, or of every origin with `*`, use the interface. They may never send
 * the credentials of the browser, such as cookies.
 */
export function crossOrigin(origins: readonly string[]): Handler {
  const allow = (
    origin: string | (() => string),
  ): ((...request: Parameters<Handler>) => Promise<void>) =>
    cors({
      origin,
      allowMethods: [...METHODS],
      allowHeaders: [...INTERFACE_FIELDS, ...TRACING_FIELDS],
      exposeHeaders: ['ETag', 'Link', 'Retry-After', 'WWW-Authenticate', 'X-Request-Id'],
      maxAge: 86_400,
    });
  if (origins.includes('*')) return allow('*');
  // A function that chooses the origin would be awaited. Meanwhile the rest of a malformed body
  // could be refused, and the page could not read that failure.
  const listed = new Map(origins.map((origin) => [origin, allow(origin)]));
  // @koa/cors would take the text '' for every origin, so a function returns it. It is awaited, but
  // that does no harm, because these origins get no header fields.
  const others = allow(() => '');
  return (ctx, next) => (listed.get(ctx.get('Origin')) ?? others)(ctx, next);
}
