import cors from '@koa/cors';
import type { Handler } from '../context';
import { METHODS } from '../openapi';

/** Lets pages of these origins, or of all with `*`, use the interface. Never allows credentials of the browser. */
export function crossOrigin(origins: readonly string[]): Handler {
  return cors({
    origin: origins.includes('*')
      ? '*'
      : (ctx) => (origins.includes(ctx.get('Origin')) ? ctx.get('Origin') : ''),
    allowMethods: [...METHODS],
    allowHeaders: [
      ...['Authorization', 'Content-Type', 'If-Match', 'If-None-Match', 'X-Request-Id'],
      ...['baggage', 'sentry-trace', 'traceparent', 'tracestate'],
    ],
    exposeHeaders: ['ETag', 'Link', 'Retry-After', 'WWW-Authenticate', 'X-Request-Id'],
    maxAge: 86_400,
  });
}
