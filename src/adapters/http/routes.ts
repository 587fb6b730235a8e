import Router from '@koa/router';
import type { ParameterizedContext } from 'koa';
import type { User } from '../../application';
import { HttpProblem, PROBLEMS } from './problems';

/** All methods that any path serves, in the order in which `Allow` lists them. */
export const METHODS = ['GET', 'HEAD', 'POST', 'DELETE', 'OPTIONS'] as const;

/** The state of a request in `ctx.state`. */
export interface State {
  user?: User;
}

export type Context = ParameterizedContext<State>;

/** The pattern of the route that served a request; `undefined` if there is none. */
export function routeOf(ctx: Context): string | undefined {
  return (ctx as { readonly _matchedRoute?: string })._matchedRoute;
}

/** A router whose paths are exact and case-sensitive. */
export function newRouter(): Router<State> {
  return new Router<State>({ sensitive: true, strict: true });
}

/**
 * Middleware after the routes. To other methods of their paths it answers 204 (OPTIONS) or 405, both with `Allow`.
 * (The router's own `allowedMethods` answers 501 to unknown methods, and 200 to OPTIONS.)
 */
export function otherMethods(...routers: readonly Router<State>[]) {
  return (ctx: Context, next: () => Promise<unknown>): unknown => {
    const served = routers
      .flatMap((router) => router.match(ctx.path, ctx.method).path)
      .flatMap(({ methods }) => methods);
    if (served.length === 0) return next();
    const allowed = METHODS.filter((method) => method === 'OPTIONS' || served.includes(method));
    if (ctx.method !== 'OPTIONS') throw methodNotAllowed(allowed);
    ctx.set('Allow', allowed.join(', '));
    ctx.status = 204;
    return undefined;
  };
}

/** @param allowed by default, for an unknown path, the methods of all paths. */
export function methodNotAllowed(allowed: readonly string[] = METHODS): HttpProblem {
  return new HttpProblem(PROBLEMS.methodNotAllowed, undefined, { Allow: allowed.join(', ') });
}
