/** Reading the body of a request: its type, its bytes, its JSON. */
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { finished } from 'node:stream/promises';
import bodyParser from 'koa-bodyparser';
import { parseJson } from '../../../application';
import { clientOf, whenClosed } from '../server/served-response';

import { HttpProblem, Overloaded, PROBLEMS, bodyTooLarge, malformedHttp } from './problems';
import type { ReceivedBodies, ReceivedBody } from './received-bodies';
import type { Context } from './koa';

// The type, then parameters: each is empty, a token or a quoted string (RFC 9110, 5.6.6 and 8.3.1).
const JSON_TYPE =
  /^application\/json[ \t]*((?:;[ \t]*(?:[\w!#$%&'*+.^`|~-]+=(?:[\w!#$%&'*+.^`|~-]+|"[^"\\]*")[ \t]*)?)*)$/i;
const CHARSET = /;[ \t]*charset=("?)([^";\t ]*)\1/gi;

/**
 * Reads a body of at most `limit` bytes, and returns its JSON value. Throws {@link HttpProblem}, and {@link Overloaded} if
 * `bodies` ends it.
 *
 * koa-bodyparser only reads the bytes. Its own decoding and parsing would replace ill-formed UTF-8, round large
 * integers and keep the last of two members with the same name.
 */
export function jsonReader(limit: number, bodies: ReceivedBodies): (ctx: Context) => Promise<unknown> {
  const parseBody = bodyParser({
    enableTypes: ['text'],
    extendTypes: { text: ['application/json'] },
    textLimit: String(limit),
    // Returns bytes. (An option of raw-body that koa-bodyparser passes on, but that its types do not have.)
    ...{ encoding: null },
  });

  const readBytes = async (ctx: Context): Promise<unknown> => {
    const { req } = ctx;
    let body: ReceivedBody | undefined;
    const count = (bytes: Buffer): void => {
      // A body that arrived in one piece, as most do, waits for nothing.
      const isWhole = req.complete || bytes.length === Number(req.headers['content-length']);
      if (!body && isWhole) return;
      body ??= bodies.begin(ctx.state.user!, (error) => stopReading(req, error));
      body.received(bytes.length);
    };
    try {
      const parsed = parseBody(ctx, noNext) as Promise<unknown>;
      req.on('data', count);
      await parsed;
    } catch (error) {
      const isTooLarge = (error as { status?: number }).status === 413;
      if (!isTooLarge && !(error instanceof Overloaded)) throw error;
      // The reader has paused the socket, and the system resets a connection that is closed with unread bytes.
      req.resume();
      if (isTooLarge) throw bodyTooLarge(limit);
      ctx.set('Connection', 'close');
      throw error;
    } finally {
      req.off('data', count);
      body?.release();
    }
    // Absent if there was no body.
    return ctx.request.rawBody ?? '';
  };

  return async (ctx) => {
    const { headers } = ctx.req;
    requireJson(headers);
    // koa-bodyparser accepts `identity` only in lower case, and the type only in some of its valid forms.
    if (headers['content-encoding'] !== undefined) delete headers['content-encoding'];
    headers['content-type'] = 'application/json';
    const body = await readWhole(ctx, limit, readBytes);
    // A text if earlier middleware has parsed the body.
    return jsonValue(typeof body === 'string' ? Buffer.from(body) : (body as Buffer));
  };
}

/** There is no middleware after the body parser. */
async function noNext(): Promise<void> {}

function requireJson({ 'content-encoding': encoding, 'content-type': type }: IncomingHttpHeaders): void {
  if (encoding && encoding.toLowerCase() !== 'identity') {
    throw new HttpProblem(PROBLEMS.unsupportedBody, undefined, {
      Accept: 'application/json',
      'Accept-Encoding': 'identity',
    });
  }
  if (type === 'application/json') return;
  const parameters = JSON_TYPE.exec(type ?? '')?.[1];
  if (parameters === '') return;
  const charsets = [...(parameters ?? '').matchAll(CHARSET)].map((match) => match[2]!.toLowerCase());
  if (parameters === undefined || charsets.some((charset) => charset !== 'utf-8' && charset !== 'utf8')) {
    throw new HttpProblem(PROBLEMS.unsupportedBody, undefined, { Accept: 'application/json' });
  }
}

function jsonValue(bytes: Uint8Array): unknown {
  try {
    return parseJson(bytes);
  } catch (error) {
    const why = WHY[(error as Error).name];
    if (why === undefined) throw error;
    throw new HttpProblem(PROBLEMS.malformedJson, why);
  }
}

const WHY: Readonly<Record<string, string>> = {
  TypeError: 'the body is not well-formed UTF-8',
  SyntaxError: 'the body is not well-formed JSON, or gives a member twice with different values',
  RangeError: 'the body is nested too deep',
};

/** Reads and drops a body that the operation ignores. Throws {@link HttpProblem}. */
export async function dropBody(ctx: Context, limit: number): Promise<void> {
  // RFC 9112, 6.3.
  const { 'content-length': length, 'transfer-encoding': coding } = ctx.req.headers;
  if (length !== undefined || coding !== undefined)
    await readWhole(ctx, limit, ({ req }) => drop(req, limit));
}

async function drop(body: IncomingMessage, limit: number): Promise<void> {
  let length = 0;
  return new Promise((resolve, reject) => {
    body.on('data', (bytes: Buffer) => {
      length += bytes.length;
      if (length > limit) reject(bodyTooLarge(limit));
    });
    finished(body).then(resolve, reject);
  });
}

/** Shared by all requests. */
const ANSWERED = new Error('the request was answered before its body had ended');

/**
 * Reads a body of at most `limit` bytes by `read`, which checks the limit if there is no Content-Length. If the request
 * gets its response before the end of the body, because it is malformed or late, this rejects: the request must not be
 * executed, because a refused request changes nothing.
 *
 * @param read listens to errors of the request from its call on, for as long as it reads.
 */
async function readWhole<T>(ctx: Context, limit: number, read: (ctx: Context) => Promise<T>): Promise<T> {
  const { req, res } = ctx;
  requireUnanswered(res);
  if (Number(req.headers['content-length']) > limit) throw bodyTooLarge(limit);
  clientOf(res)?.expectBody(res);
  let reading = true;
  try {
    const whole = read(ctx);
    // Answered without the app: no event reports the end of the body any more.
    whenClosed(res, () => {
      if (reading) stopReading(req, ANSWERED);
    });
    const body = await whole;
    requireUnanswered(res);
    return body;
  } catch (error) {
    if (error instanceof HttpProblem || error instanceof Overloaded) throw error;
    if ((error as { readonly status?: number }).status === 500)
      throw new Error('middleware in front has read the body', { cause: error });
    throw incomplete();
  } finally {
    reading = false;
  }
}

/** The reader of the body listens to the error, stops, and frees what it has. Has no effect once it has ended. */
function stopReading(req: IncomingMessage, error: Error): void {
  if (req.listenerCount('error') > 0) req.emit('error', error);
}

function requireUnanswered(res: ServerResponse): void {
  if (res.writableEnded || !res.socket!.writable) throw incomplete();
}

/** Reaches no client, because the client has disconnected or got another response. */
function incomplete(): HttpProblem {
  return malformedHttp();
}
