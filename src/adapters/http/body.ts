import bodyParser from 'koa-bodyparser';
import type { Context, Middleware, Next } from 'koa';
import { parseJson } from './json';
import { HttpProblem, PROBLEMS } from './problems';
import { readWhole } from './whole-body';

// The type, then parameters, each a token or a quoted string (RFC 9110, 5.6.6 and 8.3.1).
const JSON_TYPE =
  /^application\/json[ \t]*((?:;[ \t]*[\w!#$%&'*+.^`|~-]+=(?:[\w!#$%&'*+.^`|~-]+|"[^"\\]*")[ \t]*)*)$/i;
const CHARSET = /;[ \t]*charset=("?)([^";\t ]*)\1/gi;

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
    if (Number(ctx.get('Content-Length')) > limit) throw tooLarge(limit);
    await readWhole(ctx, async () => {
      try {
        await readBytes(ctx, async () => {});
      } catch (error) {
        if ((error as { status?: number }).status !== 413) throw error;
        // The reader has paused it, and bytes that are never read would be answered with a reset.
        ctx.req.resume();
        throw tooLarge(limit);
      }
    });
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

/** The rest of it is not worth reading: the connection ends behind the answer. */
function tooLarge(limit: number): HttpProblem {
  const message = `the body is larger than ${limit} bytes`;
  return new HttpProblem(PROBLEMS.bodyTooLarge, message, { Connection: 'close' });
}
