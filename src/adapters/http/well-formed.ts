import type { IncomingMessage } from 'node:http';
import { HttpProblem, PROBLEMS, malformedHttp } from './problems';
import { isAuthority } from './request-target';

const MAX_HEADER_FIELDS = 100;
/** Fields that mean nothing when given twice; Node keeps the first and drops the others silently. */
const SINGLE = ['host', 'authorization', 'content-type', 'content-length'];

/** What Node's parser lets pass although HTTP/1.1 forbids it. Throws {@link HttpProblem}; the connection is then closed. */
export function requireWellFormed(request: IncomingMessage): void {
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
  if (headers.host !== undefined && !isAuthority(headers.host)) {
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
