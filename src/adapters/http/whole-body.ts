import type { IncomingMessage, ServerResponse } from 'node:http';
import { finished } from 'node:stream/promises';
import { HttpProblem, bodyTooLarge, malformedHttp } from './problems';
import type { Context } from './routes';

/** Made once: every answer closes, and nearly always behind its body. */
const ANSWERED = new Error('the request was answered before its body had ended');

/**
 * Reads a body of at most `limit` bytes to its end with `read`, which minds
 * the limit where no length was announced. Until then a request may still turn out
 * malformed or late, and be answered so past Koa; it then must not be carried
 * out any more, for a refused request has changed nothing.
 */
export async function readWhole<T>(
  req: IncomingMessage,
  res: ServerResponse,
  limit: number,
  read: (req: IncomingMessage) => Promise<T>,
): Promise<T> {
  requireUnanswered(res);
  if (Number(req.headers['content-length']) > limit) throw bodyTooLarge(limit);
  // HTTP/1.0 does not know of 100 (RFC 9110, 10.1.1).
  if (req.headers.expect !== undefined && req.httpVersionMinor === 1) res.writeContinue();
  try {
    const body = await new Promise<T>((resolve, reject) => {
      // Answered past us: nobody will tell any more how the body ends.
      res.on('close', () => reject(ANSWERED));
      read(req).then(resolve, reject);
    });
    requireUnanswered(res);
    return body;
  } catch (error) {
    throw error instanceof HttpProblem ? error : incomplete();
  }
}

/** RFC 9112, 6.3. */
export function hasBody({ headers }: IncomingMessage): boolean {
  return headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined;
}

/** Waits for the end of a body that means nothing to the operation, and drops it. */
export async function dropBody({ req, res }: Context, limit: number): Promise<void> {
  await readWhole(req, res, limit, (body) => drop(body, limit));
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

function requireUnanswered(res: ServerResponse): void {
  if (res.writableEnded || !(res.socket?.writable ?? true)) throw incomplete();
}

/** Nobody reads this: the client has gone away, or was answered already. */
function incomplete(): HttpProblem {
  return malformedHttp('the body ended before its announced length');
}
