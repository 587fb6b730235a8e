import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import bodyParser from 'koa-bodyparser';
import { parseJson } from './json';
import { bodyTooLarge, HttpProblem, PROBLEMS } from './problems';
import type { Context } from './routes';
import { readWhole } from './whole-body';

// The type, then parameters, each a token or a quoted string, or nothing at all (RFC 9110, 5.6.6 and 8.3.1).
const JSON_TYPE =
  /^application\/json[ \t]*((?:;[ \t]*(?:[\w!#$%&'*+.^`|~-]+=(?:[\w!#$%&'*+.^`|~-]+|"[^"\\]*")[ \t]*)?)*)$/i;
const CHARSET = /;[ \t]*charset=("?)([^";\t ]*)\1/gi;

/**
 * Reads a body of at most `limit` bytes, and gives its JSON value.
 * koa-bodyparser only reads: it is handed no encoding and gives the bytes, for
 * its own decoding and parsing would replace ill-formed UTF-8, round large
 * integers and let the last of two equal members win.
 */
export function jsonReader(limit: number): (ctx: Context) => Promise<unknown> {
  const parseBody = bodyParser({
    enableTypes: ['text'],
    textLimit: String(limit),
    // Hand over the bytes. (An option of raw-body's, which koa-bodyparser passes on and its types leave out.)
    ...{ encoding: null },
  });

  const readBytes = async (req: IncomingMessage): Promise<unknown> => {
    // What it looks at of a context, and the type is ours to judge.
    const seen = { req, request: { is: () => true, body: undefined as unknown } };
    try {
      await parseBody(seen as unknown as Context, async () => {});
      return seen.request.body;
    } catch (error) {
      if ((error as { status?: number }).status !== 413) throw error;
      // The reader has paused it, and bytes that are never read would be answered with a reset.
      req.resume();
      throw bodyTooLarge(limit);
    }
  };

  return async ({ req, res }) => {
    requireJson(req.headers);
    // It is `identity`, in whatever case; koa-bodyparser knows it in lower case only.
    delete req.headers['content-encoding'];
    const bytes = await readWhole(req, res, limit, readBytes);
    // Without a body at all koa-bodyparser leaves an object of its own.
    return jsonValue(Buffer.isBuffer(bytes) ? bytes : new Uint8Array());
  };
}

function requireJson({ 'content-encoding': encoding, 'content-type': type }: IncomingHttpHeaders): void {
  if (encoding && encoding.toLowerCase() !== 'identity') {
    throw new HttpProblem(PROBLEMS.unsupportedBody, undefined, {
      Accept: 'application/json',
      'Accept-Encoding': 'identity',
    });
  }
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
