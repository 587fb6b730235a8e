/** Koa as this adapter uses it: the application, the context and the routers. */
import { Readable } from 'node:stream';
import Router from '@koa/router';
import Koa, { type ParameterizedContext } from 'koa';
import type { User } from '../../../application';
import { METHODS, OPERATIONS, type OperationId, servedMethods } from '../openapi/operations';
import type { Method } from '../openapi/parts';
import { HttpProblem, PROBLEMS } from './problems';

/** The state of a request in `ctx.state`. */
export interface State {
  user?: User;
}

export type Context = ParameterizedContext<State>;

/** The user of a request. The handlers that need one come after `users`. */
export function userOf(ctx: Context): User {
  return ctx.state.user!;
}

/** The pattern of the route that served a request; `undefined` if there is none. */
export function routeOf(ctx: Context): string | undefined {
  return (ctx as { readonly _matchedRoute?: string })._matchedRoute;
}

/** The value of the parameter in the path, as sent: the `params` of the router are decoded. */
export function pathParameterOf(ctx: Context): string {
  return (ctx as { readonly captures?: readonly string[] }).captures![0]!;
}

/** Serves one operation. */
export type Handler = (ctx: Context) => Promise<void> | void;

/** The handlers of operations; of one that is not served, `undefined`. */
export type Handlers<Id extends OperationId> = Readonly<Record<Id, Handler | undefined>>;

/** A router of these operations. Its paths are exact and case-sensitive. */
export function routerOf(handlers: Partial<Handlers<OperationId>>): Router<State> {
  const router = new Router<State>({ sensitive: true, strict: true });
  for (const [id, handler] of Object.entries(handlers)) {
    const { method, path } = OPERATIONS[id as OperationId];
    if (handler) router.register(path.replace(/\{(\w+)\}/g, ':$1'), [method], handler);
  }
  return router;
}

/**
 * Middleware after the routes. To other methods of their paths it answers 204 (OPTIONS) or 405, both with `Allow`.
 * (The router's own `allowedMethods` answers 501 to unknown methods, and 200 to OPTIONS.)
 */
export function otherMethods(...routers: readonly Router<State>[]) {
  return (ctx: Context, next: () => Promise<unknown>): unknown => {
    const methods = routers
      .flatMap((router) => router.match(ctx.path, ctx.method).path)
      .flatMap((route) => route.methods as Method[]);
    if (methods.length === 0) return next();
    const allowed = servedMethods(methods);
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

type Middleware = (ctx: Koa.Context) => Promise<unknown>;
type ResponseStep = (this: Koa, ctx: Koa.Context, middleware: Middleware) => Promise<void>;

/** Koa's own step: waits for the middleware and sends what it has set. Its types leave it out. */
const respond = (Koa.prototype as unknown as { readonly handleRequest: ResponseStep }).handleRequest;

/** Statuses that have no body. */
const EMPTY: ReadonlySet<number> = new Set([204, 205, 304]);

/**
 * Koa with a shorter response step: a text, a Buffer and a response without a body are ended directly, and a stream is
 * piped. Koa's own step sends all other bodies, and also reports failed responses (`on-finished`). This is the only place
 * that relies on Koa's internals: it overrides `handleRequest`.
 */
export class LeanKoa extends Koa {
  constructor() {
    super();
    // The prototypes of all its responses and contexts. Koa offers them for additions.
    Object.assign(this.response, { set });
    Object.assign(this.context, { set });
  }

  protected async handleRequest(ctx: Koa.Context, middleware: Middleware): Promise<void> {
    const { res } = ctx;
    res.statusCode = 404;
    try {
      await middleware(ctx);
    } catch (error) {
      ctx.onerror(error as Error);
      return;
    }
    const { body } = ctx.response as { readonly body: unknown };
    const isOurs = !res.writableEnded && ctx.respond !== false;
    if (isOurs && isEndable(body, res.statusCode)) res.end(body);
    else if (isOurs && body instanceof Readable && ctx.method !== 'HEAD') this.#pipe(body, ctx);
    else await this.#respond(ctx);
  }

  /**
   * Resets the response if its stream fails or ends too early. `setBody` of Koa destroys the stream with the response. (Koa's
   * own `pipeline` aborts a signal at the end of each response, which costs more than a short list.)
   */
  #pipe(body: Readable, ctx: Koa.Context): void {
    const { res } = ctx;
    body.once('error', (error) => this.emit('error', error, ctx));
    body.once('close', () => {
      if (!body.readableEnded) res.destroy();
    });
    if (body.closed) res.destroy();
    else body.pipe(res);
  }

  #respond(ctx: Koa.Context): Promise<void> {
    const { statusCode } = ctx.res;
    return respond.call(this, ctx, async () => {
      // Koa's step starts with 404.
      ctx.res.statusCode = statusCode;
    });
  }
}

function isEndable(body: unknown, status: number): body is string | Buffer | undefined {
  if (EMPTY.has(status)) return body === undefined;
  return typeof body === 'string' || Buffer.isBuffer(body);
}

/** Koa's `set` for one field with one value, without its intermediate arrays. (Koa sets `Content-Length` to a number.) */
function set(this: Koa.Response | Koa.Context, field: string | Fields, value?: Value): void {
  if (typeof field === 'string' && (typeof value === 'string' || typeof value === 'number')) {
    if (!this.res.headersSent && field !== '') this.res.setHeader(field, value);
  } else {
    setAny.call('response' in this ? this.response : this, field as string, value as string);
  }
}
/** For several fields, and for values of several lines. */
const setAny = new Koa().response.set;

type Value = string | number | readonly string[];
type Fields = Readonly<Record<string, Value>>;
