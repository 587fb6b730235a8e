import type { RouterContext } from '@koa/router';
import type { Handler } from '../context';
import { METHODS } from '../openapi';
import { HttpProblem, PROBLEMS } from '../problems';

/**
 * To other methods of the paths of the routers in front: 204 (OPTIONS) or 405, both with `Allow`. (The router's own
 * `allowedMethods` answers 501 to unknown methods, and 200 to OPTIONS.)
 */
export const otherMethods: Handler = (ctx, next) => {
  const { matched = [] } = ctx as Partial<Pick<RouterContext, 'matched'>>;
  const served = new Set(matched.flatMap(({ methods }) => methods));
  if (served.size === 0) return next();
  const allowed = METHODS.filter((method) => served.has(method) || method === 'OPTIONS').join(', ');
  if (ctx.method !== 'OPTIONS')
    throw new HttpProblem(PROBLEMS.methodNotAllowed, { headers: { Allow: allowed } });
  ctx.set('Allow', allowed);
  ctx.status = 204;
};
