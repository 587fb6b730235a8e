/** Conditional requests, as RFC 9110 defines them in section 13. */
import type { Context } from './context';
import { HttpProblem, PROBLEMS } from './problems';

/**
 * A proxy that compresses a response adds a suffix to its entity tag. Apache does this in
 * mod_deflate and mod_brotli, and so does Jetty. nginx makes the tag weak instead.
 */
const CODING_SUFFIX = /--?(?:gzip|br|zstd)"$/;

/**
 * Evaluates the conditions of a GET or HEAD for content with this strong `etag`. Returns true and
 * sets 304 if the client already has the content. Throws a 412 if `If-Match` does not hold.
 *
 * Koa's `fresh` cannot do this, because it ignores `If-None-Match` if the request has
 * `Cache-Control: no-cache`.
 */
export function isNotModified(ctx: Context, etag: string): boolean {
  const { 'if-match': match, 'if-none-match': noneMatch } = ctx.req.headers;
  if (match !== undefined && match.trim() !== '*' && !tagsOf(match, etag).includes(etag))
    throw new HttpProblem(PROBLEMS.preconditionFailed);
  if (noneMatch === undefined) return false;
  const isKnown = noneMatch.trim() === '*' || tagsOf(noneMatch, etag).some((tag) => isWeaklyEqual(tag, etag));
  if (isKnown) ctx.status = 304;
  return isKnown;
}

/**
 * The weak comparison of RFC 9110, 8.8.3.2. A proxy that compresses changes the bytes, but the
 * content stays equivalent. Only `If-None-Match` compares tags like this, because `If-Match` asks
 * for the exact bytes.
 */
function isWeaklyEqual(tag: string, etag: string): boolean {
  const strong = tag.replace('W/', '');
  return strong === etag || strong.replace(CODING_SUFFIX, '"') === etag;
}

/** The tags of a condition, if one of them may be equal to `etag`. Thousands of others take as long as ten requests. */
function tagsOf(condition: string, etag: string): readonly string[] {
  const withoutEnd = etag.slice(0, -1);
  return (condition.includes(withoutEnd) && condition.match(/(?:W\/)?"[^"]*"/g)) || [];
}

/**
 * Throws a 412 if a condition of a write contains an entity tag. A write is decided on the state of
 * its round, and the tag of that state is known only afterwards, so the write could be executed on
 * a state that the client did not mean. The rules of plants evaluate `*`.
 */
export function requireNoTags({ req: { headers } }: Context): void {
  const { 'if-match': match = '*', 'if-none-match': noneMatch = '*' } = headers;
  if (match.trim() !== '*' || noneMatch.trim() !== '*') throw new HttpProblem(PROBLEMS.preconditionFailed);
}
