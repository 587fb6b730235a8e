import type { IncomingMessage } from 'node:http';
import { HttpProblem, PROBLEMS } from './problems';

const MAX_HEADER_FIELDS = 100;
/** Fields that mean nothing when given twice; Node keeps the first and drops the others silently. */
const SINGLE = new Set(['host', 'authorization', 'content-type', 'content-length']);

/** What Node's parser lets pass although HTTP/1.1 forbids it. Throws {@link HttpProblem}; the connection is then closed. */
export function requireWellFormed(request: IncomingMessage): void {
  const { rawHeaders, httpVersionMajor, httpVersionMinor } = request;
  if (httpVersionMajor !== 1) throw malformed('the protocol must be HTTP/1.1 or HTTP/1.0');
  if (rawHeaders.length > 2 * MAX_HEADER_FIELDS) throw closing(PROBLEMS.headersTooLarge);

  const seen = new Set<string>();
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i]!.toLowerCase();
    if (!SINGLE.has(name)) continue;
    if (seen.has(name)) throw malformed(`the header field ${name} must not be given twice`);
    seen.add(name);
  }
  if (httpVersionMinor === 0 && request.headers['transfer-encoding'] !== undefined) {
    throw malformed('HTTP/1.0 knows no transfer encoding');
  }
  const { expect } = request.headers;
  if (expect !== undefined && expect.toLowerCase() !== '100-continue')
    throw malformed('the expectation cannot be met');
  const host = request.headers.host;
  if (host === undefined && httpVersionMinor === 1) throw malformed('a Host header field is required');
}

function malformed(message: string): HttpProblem {
  return closing(PROBLEMS.malformedHttp, message);
}

function closing(problem: (typeof PROBLEMS)[keyof typeof PROBLEMS], message?: string): HttpProblem {
  return new HttpProblem(problem, message, { Connection: 'close' });
}
