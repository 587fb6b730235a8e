import type { IncomingMessage } from 'node:http';
import bodyParser from 'koa-bodyparser';
import type { Context, Middleware, Next } from 'koa';
import { parseJson } from './json';
import { HttpProblem, PROBLEMS } from './problems';

// The type, then parameters, each a token or a quoted string (RFC 9110, 5.6.6 and 8.3.1).
const JSON_TYPE =
  /^application\/json[ \t]*((?:;[ \t]*[\w!#$%&'*+.^`|~-]+=(?:[\w!#$%&'*+.^`|~-]+|"[^"\\]*")[ \t]*)*)$/i;
const CHARSET = /;[ \t]*charset=("?)([^";\t ]*)\1/gi;
/** For how long a refused body is read and dropped, so that its sender gets to see the answer. */
const LINGER_MS = 1000;

/**
 * Reads the body of at most `limit` bytes and leaves its JSON value in
 * `ctx.request.body`. koa-bodyparser only reads: it is handed no encoding and
 * gives the bytes, for its own decoding and parsing would replace ill-formed
 * UTF-8, round large integers and let the last of two equal members win.
 */
export function jsonBody(limit: number): Middleware {
  const readBytes = bodyParser({
    enableTypes: ['text'],
    extendTypes: { text: ['application/json'] },
    textLimit: String(limit),
    // Hand over the bytes. (An option of raw-body's, which koa-bodyparser passes on and its types leave out.)
    ...{ encoding: null },
  });

  return async function readJsonBody(ctx: Context, next: Next): Promise<void> {
    requireJson(ctx);
    if (Number(ctx.get('Content-Length')) > limit) throw tooLarge(ctx.req, limit);
    if (ctx.req.headers.expect !== undefined) ctx.res.writeContinue();
    try {
      await readBytes(ctx, () => Promise.resolve());
    } catch (error) {
      if ((error as { status?: number }).status === 413) throw tooLarge(ctx.req, limit);
      // What is left is a client that went away in mid-body, or malformed framing: nobody reads this answer.
      throw new HttpProblem(PROBLEMS.malformedHttp, 'the body ended before its announced length');
    }
    const bytes: unknown = ctx.request.body;
    // Without a body at all koa-bodyparser leaves an object of its own.
    ctx.request.body = jsonValue(Buffer.isBuffer(bytes) ? bytes : new Uint8Array());
    await next();
  };
}

function requireJson(ctx: Context): void {
  const encoding = ctx.get('Content-Encoding');
  if (encoding !== '' && encoding.toLowerCase() !== 'identity') {
    throw new HttpProblem(PROBLEMS.unsupportedBody, undefined, {
      Accept: 'application/json',
      'Accept-Encoding': 'identity',
    });
  }
  const parameters = JSON_TYPE.exec(ctx.get('Content-Type'))?.[1];
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

/** Refuses the body without reading it; what still arrives is dropped for a moment, then the connection. */
function tooLarge(request: IncomingMessage, limit: number): HttpProblem {
  request.resume();
  setTimeout(() => request.complete || request.socket.destroy(), LINGER_MS).unref();
  return new HttpProblem(PROBLEMS.bodyTooLarge, `the body is larger than ${limit} bytes`);
}
