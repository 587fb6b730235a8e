/**
 * Whether an `If-None-Match` names the ETag of what would be answered (RFC 9110,
 * 13.1.2, with its weak comparison). Koa's `fresh` would let a `Cache-Control:
 * no-cache` overrule it.
 */
export function matches(ifNoneMatch: string, etag: string): boolean {
  const listed: readonly string[] | null = ifNoneMatch.match(/"[^"]*"/g);
  return ifNoneMatch.trim() === '*' || (listed !== null && listed.includes(etag));
}
