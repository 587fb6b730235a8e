import { ALLOW_ANYWHERE } from './routes';
import { HttpProblem, PROBLEMS } from './problems';

/** Node's parser tells of the bytes that it refused. */
interface ParserError extends NodeJS.ErrnoException {
  readonly rawPacket?: Buffer;
}

/** A request line with which nothing is wrong but the method (a token; RFC 9110, 5.6.2). */
const REQUEST_LINE = /^(?:\r\n)*[\w!#$%&'*+.^`|~-]+ [!-~]+ HTTP\/1\.[01]\r\n/;

/** What came behind a request with `Connection: close`, and so is no request. */
export function isSurplus(error: ParserError): boolean {
  return error.code === 'HPE_CLOSED_CONNECTION';
}

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
    case 'HPE_INVALID_CONSTANT': // Also a method of RTSP, which the parser knows.
      return isRequest(error.rawPacket) ? unknownMethod() : new HttpProblem(PROBLEMS.malformedHttp);
    default:
      return error.code?.startsWith('HPE_') ? new HttpProblem(PROBLEMS.malformedHttp) : undefined;
  }
}

/** No path is known here, so these are the methods that there are anywhere. */
export function unknownMethod(): HttpProblem {
  return new HttpProblem(PROBLEMS.methodNotAllowed, undefined, {
    Allow: ALLOW_ANYWHERE,
  });
}

/**
 * Tells a method that Node does not know from bytes that are no HTTP at all,
 * over both of which its parser stops at the first odd letter. The packet begins
 * with them: behind a request in the same packet they would get no answer.
 */
function isRequest(packet: Buffer | undefined): boolean {
  return packet !== undefined && REQUEST_LINE.test(packet.toString('latin1'));
}
