import { HttpProblem, PROBLEMS } from './problems';

/** What Node's parser knows of the bytes that it refused. */
interface ParserError extends NodeJS.ErrnoException {
  readonly rawPacket?: Buffer;
  readonly bytesParsed?: number;
}

/** A request line with which nothing is wrong but the method (a token; RFC 9110, 5.6.2). */
const REQUEST_LINE = /^[\w!#$%&'*+.^`|~-]+ [!-~]+ HTTP\/1\.[01]\r\n/;

/** The answer that a `clientError` of Node's asks for; `undefined` where the connection itself is broken. */
export function refusalOf(error: ParserError): HttpProblem | undefined {
  switch (error.code) {
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return new HttpProblem(PROBLEMS.tooSlow);
    case 'HPE_HEADER_OVERFLOW':
      return new HttpProblem(PROBLEMS.headersTooLarge);
    case 'HPE_CHUNK_EXTENSIONS_OVERFLOW':
      return new HttpProblem(PROBLEMS.bodyTooLarge);
    case 'HPE_INVALID_METHOD':
      return isRequestLine(error) ? unknownMethod() : new HttpProblem(PROBLEMS.malformedHttp);
    default:
      return error.code?.startsWith('HPE_') ? new HttpProblem(PROBLEMS.malformedHttp) : undefined;
  }
}

/** No path is known here, so these are the methods that there are anywhere. */
export function unknownMethod(): HttpProblem {
  return new HttpProblem(PROBLEMS.methodNotAllowed, undefined, {
    Allow: 'GET, HEAD, POST, DELETE, OPTIONS',
  });
}

/** Tells a method that Node does not know from bytes that are no HTTP at all; the parser stops at the same place. */
function isRequestLine({ rawPacket, bytesParsed }: ParserError): boolean {
  if (rawPacket === undefined || bytesParsed === undefined) return false;
  const start = rawPacket.lastIndexOf('\n', bytesParsed) + 1;
  return REQUEST_LINE.test(rawPacket.toString('latin1', start));
}
