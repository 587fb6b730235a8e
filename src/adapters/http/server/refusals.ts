/** Responses without the app: to bytes that Node's parser refuses, and to requests that do not arrive. */
import { type IncomingMessage, STATUS_CODES, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { methodNotAllowed } from '../app/koa';
import { type Headers, HttpProblem, PROBLEMS } from '../app/problems';
import { requestIdOf } from '../app/request';

/** Node's parser accepts these like HTTP, for some methods, and does not say which protocol it was. */
const OTHER_PROTOCOL = /^(?:\r\n)*[A-Z_]+ [!-~]+ (?:RTSP|ICE)\/\d\.\d\r\n/;

/**
 * Marks a request of another protocol than HTTP, so that the app refuses it. Called when its header has been parsed: it
 * looks at the packet that was parsed last. Node copies the packet, so this is done only for the first request of a
 * connection, and for those that look like HTTP/1.0. A request whose line is not at the start of that packet passes.
 */
export function refuseOtherProtocol(request: IncomingMessage): void {
  const { parser } = request.socket as Socket & { parser?: { getCurrentBuffer?(): Buffer | undefined } };
  const bytes = parser?.getCurrentBuffer?.()?.toString('latin1');
  if (bytes !== undefined && OTHER_PROTOCOL.test(bytes)) request.httpVersionMajor = 0;
}

/** Answers a request without the app, which may have started to serve it. */
export function answerRefused(response: ServerResponse, refusal: HttpProblem): void {
  const { 'X-Request-Id': requestId, ...fields } = fieldsOf(refusal, requestIdOf(response.req));
  // Of the fields that the app has set only the id remains, because the log has it.
  for (const name of response.getHeaderNames()) if (name !== 'x-request-id') response.removeHeader(name);
  if (!response.hasHeader('X-Request-Id')) response.setHeader('X-Request-Id', requestId!);
  const { status } = refusal;
  response.writeHead(status, STATUS_CODES[status], fields).end(refusal.body);
}

/** Answers bytes that are no request: without a response object. */
export function answerRaw(socket: Socket, refusal: HttpProblem, requestId: string): void {
  const { status } = refusal;
  const fields = { ...fieldsOf(refusal, requestId), Date: new Date().toUTCString() };
  const lines = Object.entries(fields).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.write(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('')}\r\n${refusal.body}`);
}

/** The header fields of a response that is sent without the app. It closes the connection. */
function fieldsOf({ headers, body }: HttpProblem, requestId: string): Headers {
  return {
    'X-Request-Id': requestId,
    'X-Content-Type-Options': 'nosniff',
    'Cache-Control': 'no-store',
    ...headers,
    'Content-Type': 'application/json',
    'Content-Length': String(Buffer.byteLength(body)),
    Connection: 'close',
  };
}

/** An error with the bytes that Node's parser refused. */
interface ParserError extends NodeJS.ErrnoException {
  readonly rawPacket?: Buffer;
}

/** Whether the bytes follow a request with `Connection: close`, and so are not a request. */
export function isSurplus(error: ParserError): boolean {
  return error.code === 'HPE_CLOSED_CONNECTION';
}

/** The problem of Node's `clientError`; `undefined` if the connection itself is broken. */
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
      return isRequest(error.rawPacket) ? methodNotAllowed() : new HttpProblem(PROBLEMS.malformedHttp);
    default:
      return error.code?.startsWith('HPE_') ? new HttpProblem(PROBLEMS.malformedHttp) : undefined;
  }
}

/** A request line that is valid except for its unknown method (a token; RFC 9110, 5.6.2). */
const REQUEST_LINE = /^(?:\r\n)*[\w!#$%&'*+.^`|~-]+ [!-~]+ HTTP\/1\.[01]\r\n/;

/**
 * Distinguishes a method that Node does not know from bytes that are not HTTP. Node's parser reports both at the first
 * unexpected character. The packet must begin with them: after another request in it they would get no response.
 */
function isRequest(packet: Buffer | undefined): boolean {
  return packet !== undefined && REQUEST_LINE.test(packet.toString('latin1'));
}
