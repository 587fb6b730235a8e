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
  /** Whether it counts as one of its user's requests in flight. */
  admitted?: boolean;
  /** The pattern of the route that serves it. */
  route?: string;
}

export type Context = ParameterizedContext<RequestState>;
export type Handler = (ctx: Context) => Answer | Promise<Answer>;

/**
 * Some of the routes, each one method of one path: exact, case-sensitive. GET serves HEAD as well. Where only a path
 * matches, the answer is 204 to OPTIONS, else 405, both with `Allow`. (Of the router only the layers are asked, which
 * know a path and its methods: its middleware would put a chain together and let it run anew with each request.)
 */
export function routes(
  served: Readonly<Record<`${'GET' | 'POST' | 'DELETE'} /${string}`, Handler>>,
): Middleware<RequestState> {
  const router = new Router<RequestState>({ sensitive: true, strict: true });
  const table = Object.entries(served).map(([route, handler]) => {
    const [method, path] = route.split(' ') as [string, string];
    router.register(path, [method], handler);
    return { layer: router.stack.at(-1)!, path, handler };
  });

  return (ctx, next) => {
    const allowed: string[] = [];
    for (const { layer, path, handler } of table) {
      if (!layer.match(ctx.state.path)) continue;
      if (layer.methods.includes(ctx.method)) {
        ctx.state.route = path;
        return handler(ctx);
      }
      allowed.push(...layer.methods);
    }
    return allowed.length === 0 ? next() : otherMethod(ctx.method, allowed);
  };
}

function otherMethod(method: string, served: readonly string[]): Answer {
  const allow = { Allow: METHODS.filter((name) => name === 'OPTIONS' || served.includes(name)).join(', ') };
  return method === 'OPTIONS' ? noContent(allow) : failure(PROBLEMS.methodNotAllowed, undefined, allow);
}
