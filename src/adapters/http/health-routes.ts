import type { Middleware } from 'koa';
import { failure, json } from './answer';
import { PROBLEMS } from './problems';
import type { RetryAfter } from './retry-after';
import { type RequestState, routes } from './routes';

/**
 * What orchestrators ask, without a token. `live`: the process answers, so
 * there is no reason to restart it. `ready`: it should be sent requests.
 */
export function healthRoutes(
  ready: () => Promise<boolean>,
  retryAfter: RetryAfter,
): Middleware<RequestState> {
  return routes({
    'GET /health/live': () => json(200, '{"status":"live"}'),

    'GET /health/ready': async () => {
      if (await ready()) return json(200, '{"status":"ready"}');
      // Not thrown: an answer like any other, and no fault that a log should tell of.
      return failure(PROBLEMS.storeUnavailable, 'the service takes no requests now', retryAfter());
    },
  });
}
