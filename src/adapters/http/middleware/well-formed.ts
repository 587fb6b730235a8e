import type { IncomingMessage } from 'node:http';
import type { Handler } from '../context';
import { FAILURES, closingFailure, malformedHttp } from '../failures';

/**
 * The targets of RFC 9112, 3.2: `*`, or a path with an optional query, or absolute-form. All are in
 * printable ASCII without `#`, so that Koa returns `path` and `querystring` exactly as they were
 * sent.
 */
const PLAIN_TARGET = /^(?:\/[!"$-~]*|\*)$/;
const ABSOLUTE_TARGET = /^https?:\/\/([^/?#]+)(\/[!"$->@-~]*)?(\?[!"$-~]*)?$/i;
/**
 * A name or an address, with an optional zone and an optional port (RFC 3986, 3.2, without
 * userinfo; RFC 6874). It may be empty.
 */
const AUTHORITY = /^(?:[\w.~!$&'()*+,;=%-]*|\[[\da-f:.]+(?:%[\w.~%-]+)?\])(?::\d*)?$/i;

const MAX_FIELDS = 100;
/** If one of these is repeated, Node keeps the first and drops the others without an error. */
const SINGLE_FIELDS = ['host', 'authorization', 'content-type'];

/**
 * Refuses requests that Node's parser accepts although HTTP/1.1 forbids them, and headers with too
 * many fields. Afterwards `ctx.url` is a path with an optional query, or `*`.
 */
export function wellFormed(): Handler {
  return (ctx, next) => {
    checkHeader(ctx.req);
    if (PLAIN_TARGET.test(ctx.req.url!)) return next();
    const target = ABSOLUTE_TARGET.exec(ctx.url);
    if (!target || !AUTHORITY.test(target[1]!))
      throw malformedHttp('the request target must be a path, or a URL of http');
    ctx.url = (target[2] ?? '/') + (target[3] ?? '');
    return next();
  };
}

function checkHeader(request: IncomingMessage): void {
  const { headers, rawHeaders, httpVersion } = request;
  const isOld = httpVersion === '1.0';
  if (!isOld && httpVersion !== '1.1')
    throw malformedHttp('the protocol must be HTTP/1.1 or HTTP/1.0');
  const fields = rawHeaders.length / 2;
  if (fields > MAX_FIELDS) throw closingFailure(FAILURES.headersTooLarge);
  // Fewer keys than fields mean that a field is repeated. It takes long to find out which one.
  if (fields > Object.keys(headers).length) requireSingleFields(request);
  if (headers.host === undefined ? !isOld : !AUTHORITY.test(headers.host))
    throw malformedHttp('the Host header field must be a host, and perhaps a port');
  const coding = headers['transfer-encoding'];
  if (coding !== undefined && (isOld || coding.toLowerCase() !== 'chunked'))
    throw malformedHttp('the transfer encoding must be chunked');
  // A server must ignore an expectation of HTTP/1.0 (RFC 9110, 10.1.1).
  if (headers.expect !== undefined && !isOld && headers.expect.toLowerCase() !== '100-continue')
    throw malformedHttp('the expectation cannot be met');
}

function requireSingleFields({ headersDistinct }: IncomingMessage): void {
  const several = SINGLE_FIELDS.find((name) => (headersDistinct[name] ?? []).length > 1);
  if (several !== undefined)
    throw malformedHttp(`the header field ${several} must not be given twice`);
}
