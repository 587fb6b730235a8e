import type { Middleware } from 'koa';
import { whole } from './answer';
import type { MetricsSource } from './metrics-source';
import { type RequestState, routes } from './routes';

/** Without a token: a proxy keeps it from the public. */
export function metricsRoute(metrics: MetricsSource): Middleware<RequestState> {
  return routes({
    'GET /metrics': async () => whole(200, metrics.contentType, await metrics.text()),
  });
}
