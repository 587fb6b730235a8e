/** The body of a request, as bytes. */
import { setImmediate as turn } from 'node:timers/promises';
import bodyParser from 'koa-bodyparser';
import type { User } from '../../application';
import { type Context, isParsable } from './context';
import { PerKeyCounter } from './per-key-counter';
import { HttpProblem, PROBLEMS, closing, malformedHttp } from './problems';

/** Memory of the bodies of one user that are being received, in bytes: a piece takes some, besides its own. */
const MAX_RECEIVED = 16 * 2 ** 20;
const PIECE_BYTES = 512;

/** Throws a 415 unless the body is JSON in UTF-8. */
export function requireJson(ctx: Context): void {
  const { 'content-type': type, 'content-encoding': coding = '' } = ctx.req.headers;
  const isJson =
    // What nearly all clients send need not be parsed.
    type === 'application/json' ||
    (isParsable(type) && ctx.is('application/json') && /^(?:utf-?8)?$/i.test(ctx.request.charset));
  if (isJson && /^(?:identity)?$/i.test(coding)) return;
  const headers = { Accept: 'application/json', 'Accept-Encoding': 'identity' };
  throw new HttpProblem(PROBLEMS.unsupportedBody, { headers });
}

/** RFC 9112, 6.3. */
export function hasBody({ req: { headers } }: Context): boolean {
  return headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined;
}

/** Reads the whole body of a request of a user. It is empty if the request has none. */
export type BodyReader = (ctx: Context) => Promise<Buffer>;

/**
 * @param limit in bytes. Throws a 413 beyond it.
 *
 * koa-bodyparser only reads the bytes: its own decoding and parsing would replace ill-formed UTF-8, round large integers and
 * keep the last of two members with the same name.
 */
export function bodyReader(limit: number): BodyReader {
  const received = new PerKeyCounter<User>();
  const parse = bodyParser({
    enableTypes: ['text'],
    textLimit: String(limit),
    // Makes the text a Buffer. koa-bodyparser passes this option on to raw-body, but its types lack it.
    ...{ encoding: null },
  });

  return async (ctx) => {
    const { req } = ctx;
    // A body parser in front of the app keeps the text.
    const { rawBody } = ctx.request as { readonly rawBody?: string };
    if (rawBody !== undefined) return Buffer.from(rawBody);
    // Before the body is asked for, so that a client that waits for 100 Continue need not send it.
    if (Number(req.headers['content-length']) > limit) throw bodyTooLarge(limit);
    // Node announces a request before it parses the body that came in the same packet.
    if (!req.complete) await turn();
    // Its client has gone, or the rest of its body has been refused: it must not be executed.
    if (!ctx.writable) throw malformedHttp();
    // Nearly all bodies have arrived by now. To read one as a stream takes a tenth of the time of a create.
    const hasArrived = req.complete && !req.readableDidRead && req.readableLength <= limit;
    if (hasArrived) return (req.read() as Buffer | null) ?? Buffer.alloc(0);
    return receive(ctx);
  };

  async function receive({ req, state: { user } }: Context): Promise<Buffer> {
    let own = 0;
    // Clients may send bodies slowly, or byte by byte.
    const count = ({ length }: Buffer) => {
      own += length + PIECE_BYTES;
      if (received.add(user, length + PIECE_BYTES) > MAX_RECEIVED)
        req.emit('error', closing(PROBLEMS.unavailable, { reason: 'bodies' }));
    };
    try {
      // koa-bodyparser reads only some types, and decompresses. The type has been checked, or the body is ignored.
      delete req.headers['content-encoding'];
      const reading = { req, request: { is: () => true, rawBody: undefined as Buffer | undefined } };
      const receiving = parse(reading as unknown as Context, () => Promise.resolve()) as Promise<void>;
      req.on('data', count);
      await receiving;
      return reading.request.rawBody!;
    } catch (error) {
      // Its reader has paused it. The kernel would reset a connection that is closed with unread bytes.
      req.resume();
      throw problemOfBody(error, limit);
    } finally {
      req.off('data', count);
      received.add(user, -own);
    }
  }
}

function problemOfBody(error: unknown, limit: number): Error {
  if (error instanceof HttpProblem) return error;
  const { status } = error as { readonly status?: number };
  if (status === 500) return new Error('middleware in front has read the body', { cause: error });
  return status === 413 ? bodyTooLarge(limit) : malformedHttp();
}

function bodyTooLarge(limit: number): HttpProblem {
  return closing(PROBLEMS.bodyTooLarge, { message: `the body is larger than ${limit} bytes` });
}
