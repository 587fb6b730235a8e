import type { IncomingMessage } from 'node:http';
import { setImmediate as nextTurn } from 'node:timers/promises';
import bodyParser from 'koa-bodyparser';
import type { User } from '../../application';
import { type Context, isShortEnough, userOf } from './context';
import { PerKeyCounter } from './per-key-counter';
import { HttpFailure, FAILURES, closingFailure, malformedHttp } from './failures';

/**
 * How many bytes of memory the bodies of one user may take while they are being received. Each
 * piece counts PIECE_OVERHEAD more than its length, because the Buffer object also takes memory, and
 * a client may send a body byte by byte.
 */
const MAX_RECEIVING = 16 * 2 ** 20;
const PIECE_OVERHEAD = 512;

export function requireJson(ctx: Context): void {
  const { 'content-type': type, 'content-encoding': coding = '' } = ctx.req.headers;
  const isJson =
    // Nearly all clients send exactly this, which need not be parsed.
    type === 'application/json' ||
    (isShortEnough(type) &&
      ctx.is('application/json') &&
      /^(?:utf-?8)?$/i.test(ctx.request.charset));
  if (isJson && /^(?:identity)?$/i.test(coding)) return;
  const headers = { Accept: 'application/json', 'Accept-Encoding': 'identity' };
  throw new HttpFailure(FAILURES.unsupportedBody, { headers });
}

/** One of these header fields announces a body, even an empty one (RFC 9112, 6.3). */
export function hasBody({ req: { headers } }: Context): boolean {
  return headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined;
}

/**
 * Makes whatever is reading the body of this request stop and fail. Node has no event that tells a
 * reader that the rest is malformed, and `req.destroy()` would destroy the connection before the
 * failure is sent. Without a reader, the error would end the process. A reader that has just failed,
 * because the body is too large for example, has already removed its listener.
 */
export function failBodyReader(req: IncomingMessage, error: HttpFailure): void {
  if (req.listenerCount('error') > 0) req.emit('error', error);
}

export type BodyReader = (ctx: Context) => Promise<Buffer>;

/**
 * Returns a function that reads the whole body of a request, which is empty if the request has
 * none. It throws a 413 if the body has more than `limit` bytes, a 503 if the bodies that the user
 * is sending at the same time take too much memory, and a 400 if the body is malformed or the
 * client has disconnected.
 *
 * koa-bodyparser only reads the bytes, because its own decoding and parsing would replace
 * ill-formed UTF-8, round large integers, and keep the last of two members with the same name.
 */
export function bodyReader(limit: number): BodyReader {
  const receiving = new PerKeyCounter<User>();
  const parse = bodyParser({
    enableTypes: ['text'],
    textLimit: String(limit),
    // Makes the text a Buffer. koa-bodyparser passes this option on to raw-body, but its types lack
    // it.
    ...{ encoding: null },
  });

  return async (ctx) => {
    const { req } = ctx;
    // A body parser in front of the app has read the body and has left its text here.
    const { rawBody } = ctx.request as { readonly rawBody?: string };
    if (rawBody !== undefined) return Buffer.from(rawBody);
    // Checked before the body is requested, so that a client that waits for 100 Continue need not
    // send it.
    if (Number(req.headers['content-length']) > limit) throw bodyTooLarge(limit);
    // Node emits a request before it parses the body that came in the same packet, so the body may
    // arrive in this turn of the event loop.
    if (!req.complete) await nextTurn();
    // The client has disconnected, or the rest of the body was refused: do not execute the request.
    if (!ctx.writable) throw malformedHttp();
    // Nearly all bodies have arrived by now. Reading one as a stream would take a tenth of the time
    // of a create.
    const hasArrived = req.complete && !req.readableDidRead && req.readableLength <= limit;
    if (hasArrived) return (req.read() as Buffer | null) ?? Buffer.alloc(0);
    return receive(ctx);
  };

  async function receive(ctx: Context): Promise<Buffer> {
    const { req } = ctx;
    const user = userOf(ctx);
    let own = 0;
    const count = ({ length }: Buffer) => {
      own += length + PIECE_OVERHEAD;
      if (receiving.add(user, length + PIECE_OVERHEAD) > MAX_RECEIVING)
        failBodyReader(req, closingFailure(FAILURES.unavailable, { reason: 'received_bodies' }));
    };
    try {
      // Keeps koa-bodyparser from ignoring other types and from decompressing. The route has
      // already checked both, or does not use the body.
      delete req.headers['content-encoding'];
      const bodyContext = {
        req,
        request: { is: () => true, rawBody: undefined as Buffer | undefined },
      };
      const reading = parse(bodyContext as unknown as Context, () =>
        Promise.resolve(),
      ) as Promise<void>;
      req.on('data', count);
      await reading;
      return bodyContext.request.rawBody!;
    } catch (error) {
      // koa-bodyparser has paused the stream. The rest must be read and dropped, because the kernel
      // would reset a connection that is closed with unread bytes.
      req.resume();
      throw failureOfBody(error, limit);
    } finally {
      req.off('data', count);
      receiving.add(user, -own);
    }
  }
}

function failureOfBody(error: unknown, limit: number): Error {
  if (error instanceof HttpFailure) return error;
  const { status } = error as { readonly status?: number };
  // raw-body rejects with 500 if the stream can no longer be read.
  if (status === 500)
    return new Error('another middleware has already read the body', { cause: error });
  return status === 413 ? bodyTooLarge(limit) : malformedHttp();
}

function bodyTooLarge(limit: number): HttpFailure {
  return closingFailure(FAILURES.bodyTooLarge, {
    message: `the body is larger than ${limit} bytes`,
  });
}
