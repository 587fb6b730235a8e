import Router from '@koa/router';
import type { Context, Middleware } from 'koa';
import { otherMethods } from './methods';
import { PROBLEMS, RETRY_SOON } from './problems';
import { respondJson, respondProblem } from './respond';

/**
 * What orchestrators ask, without a token. `live`: the process answers, so
 * there is no reason to restart it. `ready`: it should be sent requests.
 */
export function healthRoutes(ready: () => Promise<boolean>): Middleware {
  const router = new Router({ sensitive: true, strict: true });

  router.get('/health/live', (ctx: Context) => respondJson(ctx, 200, '{"status":"live"}'));

  router.get('/health/ready', async (ctx: Context) => {
    if (await ready()) respondJson(ctx, 200, '{"status":"ready"}');
    // Not thrown: an answer like any other, and no fault that a log should tell of.
    else respondProblem(ctx, PROBLEMS.storeUnavailable, 'the service takes no requests now', RETRY_SOON);
  });

  router.all(['/health/live', '/health/ready'], otherMethods('GET, HEAD, OPTIONS'));

  return router.routes() as unknown as Middleware;
}
