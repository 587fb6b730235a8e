import { malformedHttp } from './problems';

/** A name or an address, and perhaps a port (RFC 3986, 3.2, without its user part: RFC 9110, 4.2.4). Empty is allowed. */
const AUTHORITY = /^(?:[\w.~!$&'()*+,;=%-]*|\[[\da-f:.]+\])(?::\d*)?$/i;
/** Origin-form or absolute-form (RFC 9112, 3.2). In neither is there a place for a fragment. */
const TARGET = /^(?:https?:\/\/([^/?#]+))?(\/[^?#]*)?(\?[^#]*)?$/i;

export function isAuthority(text: string): boolean {
  return AUTHORITY.test(text);
}

/**
 * Path and query of a request's target, as they were sent. An authority names
 * us, whatever it says. (Koa would leave an absolute target to a parser that
 * throws on some and mends others.) Throws {@link HttpProblem}.
 */
export function originForm(target: string): string {
  if (target === '*') return target;
  const match = TARGET.exec(target);
  if (match === null || !isAuthority(match[1] ?? '')) {
    throw malformedHttp('the request target must be a path, or a URL of http');
  }
  const [, , path = '/', query = ''] = match;
  return path + query;
}
