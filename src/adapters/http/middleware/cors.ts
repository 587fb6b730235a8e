import cors from '@koa/cors';
import type { Handler } from '../context';
import { METHODS } from '../openapi';

/** Lets pages of these origins, or of all with `*`, use the interface. Never allows credentials of the browser. */
export function crossOrigin(origins: readonly string[]): Handler {
  const allow = (origin: string | (() => string)): ((...request: Parameters<Handler>) => Promise<void>) =>
    cors({
      origin,
      allowMethods: [...METHODS],
      allowHeaders: [
        ...['Authorization', 'Content-Type', 'If-Match', 'If-None-Match', 'X-Request-Id'],
        ...['baggage', 'sentry-trace', 'traceparent', 'tracestate'],
      ],
      exposeHeaders: ['ETag', 'Link', 'Retry-After', 'WWW-Authenticate', 'X-Request-Id'],
      maxAge: 86_400,
    });
  if (origins.includes('*')) return allow('*');
  // A function that chose the origin would be awaited, and a body that came with the header may be refused meanwhile.
  const listed = new Map(origins.map((origin) => [origin, allow(origin)]));
  const others = allow(() => '');
  return (ctx, next) => (listed.get(ctx.get('Origin')) ?? others)(ctx, next);
}
