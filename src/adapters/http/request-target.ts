import { malformedHttp } from './problems';

/** A name or an address, and perhaps a port (RFC 3986, 3.2, without its user part: RFC 9110, 4.2.4). Empty is allowed. */
const AUTHORITY = /^(?:[\w.~!$&'()*+,;=%-]*|\[[\da-f:.]+\])(?::\d*)?$/i;
/** Origin-form or absolute-form (RFC 9112, 3.2). In neither is there a place for a fragment. */
const TARGET = /^(?:https?:\/\/([^/?#]+))?(\/[^?#]*)?(?:\?([^#]*))?$/i;

/** Both as they were sent. */
export interface Target {
  readonly path: string;
  /** Without its question mark; empty where there is none. */
  readonly query: string;
}

export function isAuthority(text: string): boolean {
  return AUTHORITY.test(text);
}

/**
 * What a request is about. An authority names us, whatever it says. (Koa would
 * leave an absolute target to a parser that throws on some and mends others.)
 * Throws {@link HttpProblem}.
 */
export function parseTarget(target: string): Target {
  if (target === '*') return { path: target, query: '' };
  const match = TARGET.exec(target);
  if (match === null || !isAuthority(match[1] ?? '')) {
    throw malformedHttp('the request target must be a path, or a URL of http');
  }
  const [, , path = '/', query = ''] = match;
  return { path, query };
}
