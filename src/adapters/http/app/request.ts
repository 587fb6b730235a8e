/** Reads the target, the id and the trace of a request, and checks that it is well-formed HTTP. */
import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { HttpProblem, PROBLEMS, malformedHttp } from './problems';
import type { Context } from './koa';

/** A valid X-Request-Id: short, and safe in any log or page. */
const REQUEST_ID = /^[A-Za-z0-9._-]{1,64}$/;

/** The caller's `X-Request-Id` if it is well-formed, otherwise a new one. */
export function requestIdOf({ headers }: IncomingMessage): string {
  const sent = headers['x-request-id'];
  return typeof sent === 'string' && REQUEST_ID.test(sent) ? sent : randomUUID();
}

/** W3C Trace Context, 3.2: version, trace, parent and flags in lower-case hex. Zeros and version ff are invalid. */
const TRACEPARENT = /^(?!ff)[0-9a-f]{2}-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}$/;

/** The `traceparent` of the request, if it is well-formed. */
export function traceparentOf({ headers: { traceparent } }: IncomingMessage): string | undefined {
  return typeof traceparent === 'string' && TRACEPARENT.test(traceparent) ? traceparent : undefined;
}

/** A path with an optional query, in ASCII: Koa's `path` and `querystring` are then exactly as sent. */
const PLAIN_TARGET = /^\/[!"$-~]*$/;
/** Origin-form or absolute-form (RFC 9112, 3.2), in ASCII, without a fragment. */
const TARGET = /^(?:https?:\/\/([^/?#]+))?(\/[!"$->@-~]*)?(\?[!"$-~]*)?$/i;
/** A name or an address with an optional port (RFC 3986, 3.2, without userinfo: RFC 9110, 4.2.4). May be empty. */
const AUTHORITY = /^(?:[\w.~!$&'()*+,;=%-]*|\[[\da-f:.]+\])(?::\d*)?$/i;

/** Throws {@link HttpProblem} if the request is malformed. Afterwards the URL of the context is a path and a query. */
export function requireWellFormed(ctx: Context): void {
  requireWellFormedHeader(ctx.req);
  const { url } = ctx.request;
  if (PLAIN_TARGET.test(url) || url === '*') return;
  const target = TARGET.exec(url);
  if (!target?.[1] || !AUTHORITY.test(target[1])) {
    throw malformedHttp('the request target must be a path, or a URL of http');
  }
  // Any authority is accepted.
  const [, , path = '/', query = ''] = target;
  ctx.url = path + query;
}

/** The mount path of the app; empty if it is not mounted. Links of the app begin with it. */
export function mountPathOf(ctx: Context): string {
  if (ctx.originalUrl === ctx.url) return '';
  const whole = TARGET.exec(ctx.originalUrl)?.[2] ?? '';
  if (whole.endsWith(ctx.path)) return whole.slice(0, -ctx.path.length);
  // Mounted at /v1, the app gets / for a request to /v1.
  return ctx.path === '/' ? whole : '';
}

const MAX_HEADER_FIELDS = 100;
/** Fields that must not occur twice. Node keeps the first one and drops the others without an error. */
const SINGLE = ['host', 'authorization', 'content-type', 'content-length'];

/** Refuses headers that Node's parser accepts but HTTP/1.1 forbids. The connection closes after the response. */
function requireWellFormedHeader(request: IncomingMessage): void {
  const { rawHeaders, headers, httpVersionMajor, httpVersionMinor } = request;
  if (httpVersionMajor !== 1) throw malformedHttp('the protocol must be HTTP/1.1 or HTTP/1.0');
  if (rawHeaders.length > 2 * MAX_HEADER_FIELDS) {
    throw new HttpProblem(PROBLEMS.headersTooLarge, undefined, { Connection: 'close' });
  }

  let seen = 0;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const index = SINGLE.indexOf(rawHeaders[i]!.toLowerCase());
    if (index === -1) continue;
    if (seen & (1 << index)) throw malformedHttp(`the header field ${SINGLE[index]} must not be given twice`);
    seen |= 1 << index;
  }

  const http10 = httpVersionMinor === 0;
  if (headers.host === undefined && !http10) throw malformedHttp('a Host header field is required');
  if (headers.host !== undefined && !AUTHORITY.test(headers.host)) {
    throw malformedHttp('the Host header field must be a host, and perhaps a port');
  }

  const coding = headers['transfer-encoding'];
  if (coding !== undefined && http10) throw malformedHttp('HTTP/1.0 knows no transfer encoding');
  if (coding !== undefined && coding.toLowerCase() !== 'chunked') {
    throw malformedHttp('the transfer encoding must be chunked');
  }
  // A server must ignore an expectation of HTTP/1.0 (RFC 9110, 10.1.1).
  if (headers.expect !== undefined && !http10 && headers.expect.toLowerCase() !== '100-continue') {
    throw malformedHttp('the expectation cannot be met');
  }
}
