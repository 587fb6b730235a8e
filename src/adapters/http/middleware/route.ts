import Router, { type RouterContext } from '@koa/router';
import type { Context, Handler, State } from '../context';
import { METHODS, type Paths } from '../openapi';
import { HttpFailure, FAILURES } from '../failures';

/**
 * `id` is the parameter of the path exactly as the client sent it, because the router decodes its
 * own `params`.
 */
export type Handle = (ctx: Context, id: string) => unknown;

/** The compiler reports an operation of the OpenAPI document that has no handler here. */
export type Routes<Path extends keyof Paths> = {
  readonly [Each in Path]: { readonly [Method in keyof Paths[Each]]: Handle };
};

type AnyRoutes = Readonly<Record<string, Readonly<Record<string, Handle>>>>;

/**
 * Paths are compared exactly: case and trailing slashes count. All routes share one router, because
 * each router and each of its layers costs time.
 */
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
 * Answers OPTIONS with a 204, and throws a 405 for any other method that the path does not serve.
 * Both have `Allow`. The router's own `allowedMethods` would answer an unknown method with 501 and
 * OPTIONS with 200.
 */
export const otherMethods: Handler = (ctx, next) => {
  const { matched = [] } = ctx as Partial<Pick<RouterContext, 'matched'>>;
  const served = matched.flatMap(({ methods }) => methods);
  if (served.length === 0) return next();
  const allow = METHODS.filter((method) => served.includes(method) || method === 'OPTIONS').join(
    ', ',
  );
  if (ctx.method !== 'OPTIONS') throw methodNotAllowed(allow);
  ctx.set('Allow', allow);
  ctx.status = 204;
};

export type Allowed = (target: string) => string | undefined;

/**
 * Returns a function for the value of `Allow` at a request target. Node does not pass a request
 * with an unknown method to the app, so the router cannot find out which methods its path has.
 */
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

export function methodNotAllowed(allow?: string): HttpFailure {
  return new HttpFailure(
    FAILURES.methodNotAllowed,
    allow === undefined ? {} : { headers: { Allow: allow } },
  );
}
