import { createHash } from 'node:crypto';
import { type Answer, whole } from './answer';
import { matches } from './if-none-match';
import type { Handler } from './routes';

/**
 * Answers with a body that stays the same while the service runs. It is loaded
 * when it is first asked for, and then held once for all its readers, however
 * slow they are. Clients may keep it, and ask each time whether it still holds.
 */
export function keptAnswer(type: string, load: () => Promise<Buffer>): Handler {
  let kept: Promise<Answer> | undefined;

  return async (ctx) => {
    kept ??= load().then((bytes) => whole(200, type, bytes, mayBeKept(bytes)));
    const answer = await kept.catch((fault: unknown) => {
      // The next one may have better luck.
      kept = undefined;
      throw fault;
    });
    const { ETag, 'Cache-Control': caching } = answer.headers;
    if (!matches(ctx.get('If-None-Match'), ETag!)) return answer;
    return { status: 304, headers: { ETag: ETag!, 'Cache-Control': caching! } };
  };
}

function mayBeKept(bytes: Buffer) {
  const etag = `"${createHash('sha256').update(bytes).digest('base64url')}"`;
  return { ETag: etag, 'Cache-Control': 'no-cache' };
}
