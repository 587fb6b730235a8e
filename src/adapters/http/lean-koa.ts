import { Readable, pipeline } from 'node:stream';
import Koa from 'koa';
import type { State } from './context';

/** Statuses that have no body. */
const EMPTY: ReadonlySet<number> = new Set([204, 205, 304]);

type Handle = (this: Koa, ctx: Koa.Context, fn: (ctx: Koa.Context) => Promise<unknown>) => Promise<void>;
const { handleRequest } = Koa.prototype as unknown as { readonly handleRequest: Handle };

/**
 * Koa, which sends a text, a Buffer, a stream or no body itself. Koa's own step watches every response by `on-finished`,
 * because a body may be a stream: that takes a fifth of the processor time of a short list. It sends all other bodies. This
 * is the only use of Koa's internals.
 */
export class LeanKoa extends Koa<State> {
  protected async handleRequest(ctx: Koa.Context, fn: (ctx: Koa.Context) => Promise<unknown>) {
    const { res } = ctx;
    res.statusCode = 404;
    try {
      await fn(ctx);
    } catch (error) {
      ctx.onerror(error as Error);
      return;
    }
    const { statusCode } = res;
    const body: unknown = ctx.body;
    const isPlain = EMPTY.has(statusCode)
      ? body === undefined
      : typeof body === 'string' || Buffer.isBuffer(body);
    const isOurs = ctx.respond !== false && !res.writableEnded;
    if (isOurs && isPlain) res.end(body);
    else if (isOurs && body instanceof Readable && ctx.method !== 'HEAD')
      pipeline(body, res, (error) => {
        // A client that disconnects is no failure of the service.
        if (error && error.code !== 'ERR_STREAM_PREMATURE_CLOSE') this.emit('error', error, ctx);
      });
    else await handleRequest.call(this, ctx, async () => (res.statusCode = statusCode));
  }
}
