import type { Context } from './context';
import { HttpFailure, FAILURES } from './failures';

const CODING_SUFFIX = /--?(?:gzip|br|zstd)"$/;

/**
 * Answers a GET or HEAD with 304 if the client already has the content with this strong `etag`, and
 * returns whether it has. Throws a 412 if `If-Match` does not hold.
 *
 * Koa's `fresh` cannot do this, because it ignores `If-None-Match` if the request has
 * `Cache-Control: no-cache`.
 */
export function answerNotModified(ctx: Context, etag: string): boolean {
  const { 'if-match': match, 'if-none-match': noneMatch } = ctx.req.headers;
  if (match !== undefined && match.trim() !== '*' && !parseTags(match, etag).includes(etag))
    throw new HttpFailure(FAILURES.preconditionFailed);
  if (noneMatch === undefined) return false;
  const isKnown =
    noneMatch.trim() === '*' || parseTags(noneMatch, etag).some((tag) => isWeaklyEqual(tag, etag));
  if (isKnown) ctx.status = 304;
  return isKnown;
}

/**
 * The weak comparison of RFC 9110, 8.8.3.2. A proxy that compresses a response changes its bytes,
 * but the content stays equivalent. Apache (mod_deflate, mod_brotli) and Jetty then add a suffix to
 * the entity tag, and nginx makes it weak. Only `If-None-Match` compares tags like this, because
 * `If-Match` asks for the exact bytes.
 */
function isWeaklyEqual(tag: string, etag: string): boolean {
  const strong = tag.replace(/^W\//, '');
  return strong === etag || strong.replace(CODING_SUFFIX, '"') === etag;
}

/**
 * Returns the tags of a condition only if one of them may equal `etag`, because parsing thousands
 * of tags takes as long as ten requests.
 */
function parseTags(condition: string, etag: string): readonly string[] {
  // A proxy puts its suffix before the closing quote.
  const withoutClosingQuote = etag.slice(0, -1);
  return (condition.includes(withoutClosingQuote) && condition.match(/(?:W\/)?"[^"]*"/g)) || [];
}

/**
 * Throws a 412 if a condition of a write contains an entity tag. A write is decided on the state of
 * its round, and the tag of that state is known only afterwards, so the write could be executed on
 * a state that the client did not mean. `*` passes: the endpoints heed `If-None-Match: *`, and
 * `If-Match: *` has no effect.
 */
export function requireNoEntityTags({ req: { headers } }: Context): void {
  const { 'if-match': match = '*', 'if-none-match': noneMatch = '*' } = headers;
  if (match.trim() !== '*' || noneMatch.trim() !== '*')
    throw new HttpFailure(FAILURES.preconditionFailed);
}
