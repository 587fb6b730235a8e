import { STATUS_CODES, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { type Headers, type Problem, PROBLEMS, problemBody } from './problems';

/** For how long a connection that got its last answer is read and dropped, so that a sender gets to see it. */
const LINGER_MS = 1000;

/**
 * What Node would answer by itself, without the contract's body: bytes that
 * its parser refuses, requests that do not arrive in time, CONNECT. Such an
 * answer must never be taken for that of an earlier request on the same
 * connection, so where one is still under way the connection is cut instead.
 */
export function answerConnectionErrors(server: Server): void {
  const underWay = new WeakMap<Duplex, Set<ServerResponse>>();
  const closing = new WeakSet<Duplex>();

  server.prependListener('request', track);
  server.prependListener('checkContinue', track);
  server.prependListener('checkExpectation', track);

  function track(request: IncomingMessage, response: ServerResponse): void {
    const { socket } = request;
    let responses = underWay.get(socket);
    if (responses === undefined) underWay.set(socket, (responses = new Set()));
    responses.add(response);
    response.once('close', () => responses.delete(response));
  }

  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    if (closing.has(socket)) return;
    const [only, ...others] = underWay.get(socket) ?? [];
    // The one request under way is itself the one that failed where its body has not come to its end.
    const nothingElse =
      only === undefined || (others.length === 0 && !only.req.complete && !only.headersSent);
    if (!socket.writable || !nothingElse || error.code === 'ECONNRESET') socket.destroy();
    else refuse(socket, ...problemOf(error.code));
  });

  server.on('connect', (_request: IncomingMessage, socket: Duplex) => {
    if ((underWay.get(socket)?.size ?? 0) > 0) socket.destroy();
    else refuse(socket, PROBLEMS.methodNotAllowed, { Allow: '' });
  });

  function refuse(socket: Duplex, problem: Problem, headers: Headers = {}): void {
    closing.add(socket);
    socket.on('error', () => socket.destroy());
    socket.end(rawAnswer(problem, headers));
    socket.resume();
    setTimeout(() => socket.destroy(), LINGER_MS).unref();
  }
}

function problemOf(code: string | undefined): [Problem, Headers?] {
  switch (code) {
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return [PROBLEMS.tooSlow];
    case 'HPE_HEADER_OVERFLOW':
      return [PROBLEMS.headersTooLarge];
    case 'HPE_CHUNK_EXTENSIONS_OVERFLOW':
      return [PROBLEMS.bodyTooLarge];
    case 'HPE_INVALID_METHOD':
      return [PROBLEMS.methodNotAllowed, { Allow: '' }];
    default:
      return [PROBLEMS.malformedHttp];
  }
}

/** A whole answer in bytes, for a connection on which there is no response object to speak through. */
function rawAnswer(problem: Problem, headers: Headers): string {
  const body = problemBody(problem);
  const fields = {
    'Content-Type': 'application/json',
    'Content-Length': String(Buffer.byteLength(body)),
    'Cache-Control': 'no-store',
    'X-Content-Type-Options': 'nosniff',
    Date: new Date().toUTCString(),
    Connection: 'close',
    ...headers,
  };
  const head = Object.entries(fields).map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${problem.status} ${STATUS_CODES[problem.status]}\r\n${head.join('')}\r\n${body}`;
}
