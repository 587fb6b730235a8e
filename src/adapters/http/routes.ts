import Router from '@koa/router';
import type { Middleware, ParameterizedContext } from 'koa';
import type { User } from '../../application';
import { type Answer, failure, noContent } from './answer';
import { PROBLEMS } from './problems';
import type { Target } from './request-target';

/** All that are served anywhere, in the order in which they are listed. */
const METHODS = ['GET', 'HEAD', 'POST', 'DELETE', 'OPTIONS'];
/** Where no path is known. */
export const ALLOW_ANYWHERE = METHODS.join(', ');

/** What is known of a request, and becomes known on its way. */
export interface RequestState extends Target {
  /** Who asks. */
  user?: User;
  /** The pattern of the route that serves it. */
  route?: string;
}

export type Context = ParameterizedContext<RequestState>;
export type Handler = (ctx: Context) => Answer | Promise<Answer>;

/**
 * Some of the routes, each one method of one path: exact, case-sensitive. GET serves HEAD as well. Where only a path
 * matches, the answer is 204 to OPTIONS, else 405, both with `Allow`. (The router only finds routes. Its own
 * middleware would put a chain together and let it run anew with each request.)
 */
export function routes(
  served: Readonly<Record<`${'GET' | 'POST' | 'DELETE'} /${string}`, Handler>>,
): Middleware<RequestState> {
  const router = new Router<RequestState>({ sensitive: true, strict: true });
  const handlers = new Map(
    Object.entries(served).map(([route, handler]) => {
      const [method, path] = route.split(' ') as [string, string];
      return [router.register(path, [method], handler), { path, handler }];
    }),
  );

  return (ctx, next) => {
    const { path, pathAndMethod } = router.match(ctx.state.path, ctx.method);
    const route = pathAndMethod[0] && handlers.get(pathAndMethod[0]);
    if (route === undefined) {
      const allowed = path.flatMap(({ methods }) => methods);
      return allowed.length === 0 ? next() : otherMethod(ctx.method, allowed);
    }
    ctx.state.route = route.path;
    return route.handler(ctx);
  };
}

function otherMethod(method: string, served: readonly string[]): Answer {
  const allow = { Allow: METHODS.filter((name) => name === 'OPTIONS' || served.includes(name)).join(', ') };
  return method === 'OPTIONS' ? noContent(allow) : failure(PROBLEMS.methodNotAllowed, undefined, allow);
}
