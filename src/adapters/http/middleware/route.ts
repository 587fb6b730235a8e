import Router, { type RouterContext } from '@koa/router';
import type { Context, Handler, State } from '../context';
import { METHODS, type Paths } from '../openapi';
import { HttpProblem, PROBLEMS } from '../problems';

/** Answers a request. `id` is the parameter of its path, as sent: the router decodes its `params`. */
export type Handle = (ctx: Context, id: string) => unknown;

/** The handlers of some paths of the OpenAPI document. The compiler names an operation that lacks one. */
export type Routes<Path extends keyof Paths> = {
  readonly [Each in Path]: { readonly [Method in keyof Paths[Each]]: Handle };
};

type AnyRoutes = Readonly<Record<string, Readonly<Record<string, Handle>>>>;

/** Calls the handler of a path and method. Case and trailing slashes count. Each router, and each layer of one, costs time. */
export function route(routes: AnyRoutes): Handler {
  const router = new Router<State>({ sensitive: true, strict: true });
  for (const [path, operations] of Object.entries(routes))
    for (const [method, handle] of Object.entries(operations))
      router.register(path.replace('{id}', ':id'), [method], (ctx) =>
        handle(ctx, (ctx as unknown as { readonly captures: readonly string[] }).captures[0]!),
      );
  return router.routes() as Handler;
}

/**
 * To other methods of the paths of the router: 204 (OPTIONS) or 405, both with `Allow`. (The router's own `allowedMethods`
 * answers 501 to unknown methods, and 200 to OPTIONS.)
 */
export const otherMethods: Handler = (ctx, next) => {
  const { matched = [] } = ctx as Partial<Pick<RouterContext, 'matched'>>;
  const served = matched.flatMap(({ methods }) => methods);
  if (served.length === 0) return next();
  const allow = METHODS.filter((method) => served.includes(method) || method === 'OPTIONS').join(', ');
  if (ctx.method !== 'OPTIONS') throw methodNotAllowed(allow);
  ctx.set('Allow', allow);
  ctx.status = 204;
};

/** `Allow` of the path of a request target; `undefined` if there is no such path. */
export type Allowed = (target: string) => string | undefined;

/** For requests that Node does not pass on to the app, because it does not know their method. */
export function allowedBy(routes: AnyRoutes): Allowed {
  const paths = Object.entries(routes).map(([path, operations]) => {
    const isServed = (method: string) =>
      method === 'OPTIONS' || (method === 'HEAD' ? 'get' : method.toLowerCase()) in operations;
    const pattern = new RegExp(`^${path.replaceAll('.', '[.]').replace('{id}', '[^/]+')}$`);
    return [pattern, METHODS.filter(isServed).join(', ')] as const;
  });
  return (target) => {
    const [path = ''] = target.split('?');
    return paths.find(([pattern]) => pattern.test(path))?.[1];
  };
}

export function methodNotAllowed(allow?: string): HttpProblem {
  return new HttpProblem(PROBLEMS.methodNotAllowed, allow === undefined ? {} : { headers: { Allow: allow } });
}
