import Router from '@koa/router';
import type { Handler, State } from '../context';
import type { Served } from '../operation';
import { listMethods } from '../operations';
import { HttpFailure, FAILURES } from '../failures';

/**
 * Paths are compared exactly: case and trailing slashes count. All routes share one router, because
 * each router takes time for each request.
 */
export function route(served: readonly Served[]): Handler {
  const router = new Router<State>({ sensitive: true, strict: true });
  for (const { operation, endpoint } of served)
    // `captures` has the id as it was sent, and `params` has it decoded.
    router.register(operation.path.replace('{id}', ':id'), [operation.method], (ctx) =>
      endpoint(ctx, (ctx as unknown as { readonly captures: readonly string[] }).captures[0]),
    );
  return router.routes() as Handler;
}

/**
 * Answers OPTIONS with a 204, and throws a 405 for any other method that the path does not serve.
 * Both have `Allow`. The router's own `allowedMethods` would answer an unknown method with 501 and
 * OPTIONS with 200.
 */
export function otherMethods(allowAt: AllowAt): Handler {
  return (ctx, next) => {
    const allow = allowAt(ctx.path);
    if (allow === undefined) {
      ctx.state.isPassedOn = true;
      return next();
    }
    if (ctx.method !== 'OPTIONS') throw methodNotAllowed(allow);
    ctx.set('Allow', allow);
    ctx.status = 204;
  };
}

/**
 * Returns the value of `Allow` at a request target, or `undefined` if nothing is there. `listen`
 * uses it as well, for requests with an unknown method, which Node does not pass to the app and so
 * not to its router.
 */
export type AllowAt = (target: string) => string | undefined;

export function createAllowAt(served: readonly Served[]): AllowAt {
  const operations = served.map(({ operation }) => operation);
  const paths = [...new Set(operations.map(({ path }) => path))].map((path) => {
    const pattern = new RegExp(`^${path.replaceAll('.', '[.]').replace('{id}', '[^/]+')}$`);
    return [
      pattern,
      listMethods(operations.filter((each) => each.path === path)).join(', '),
    ] as const;
  });
  return (target) => {
    // Without the scheme and the authority of the absolute-form (RFC 9112, 3.2.2).
    const [path = ''] = target.replace(/^https?:\/\/[^/?]*/i, '').split('?');
    return paths.find(([pattern]) => pattern.test(path))?.[1];
  };
}

export function methodNotAllowed(allow?: string): HttpFailure {
  return new HttpFailure(
    FAILURES.methodNotAllowed,
    allow === undefined ? {} : { headers: { Allow: allow } },
  );
}
