/** Conditional requests (RFC 9110, 13). */
import type { Context } from './context';
import { HttpProblem, PROBLEMS } from './problems';

/** What a proxy that compresses adds to a tag: Apache's mod_deflate and mod_brotli, and Jetty. nginx makes it weak instead. */
const CODING_SUFFIX = /--?(?:gzip|br|zstd)"$/;

/**
 * Evaluates the conditions of a GET or HEAD. Returns true, and sets 304, if the client has the content with this strong
 * `etag`. Throws a 412 if `If-Match` does not hold. (Koa's `fresh` would ignore `If-None-Match` if the request has
 * `Cache-Control: no-cache`.)
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
 * Whether the content with the tag of a client is equivalent, if not equal byte for byte (RFC 9110, 8.8.3.2). A coding of a
 * proxy leaves it equivalent. Only `If-None-Match` compares so: `If-Match` asks for the very bytes.
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
 * Throws a 412 if a write has a condition that names a state. A write is decided on the state of its round, whose tag is
 * known only afterwards: it is refused rather than executed on another one. `*` is left to the rules of plants.
 */
export function requireNoTags({ req: { headers } }: Context): void {
  const { 'if-match': match = '*', 'if-none-match': noneMatch = '*' } = headers;
  if (match.trim() !== '*' || noneMatch.trim() !== '*') throw new HttpProblem(PROBLEMS.preconditionFailed);
}
