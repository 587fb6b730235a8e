import { STATUS_CODES, type ServerResponse } from 'node:http';
import { type HttpProblem, problemBody } from './problems';
import { everyAnswersFields } from './respond';

/** A whole answer in bytes, for what never became a request and so has no response object. Its connection ends behind it. */
export function rawAnswer(requestId: string, refusal: HttpProblem): string {
  const { status, body, fields } = lastAnswer(requestId, refusal);
  const head = Object.entries({ ...fields, Date: new Date().toUTCString() });
  const lines = head.map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('')}\r\n${body}`;
}

/** The same past Koa, which may be at work on an answer and have set some of it; what it does from now on is void. */
export function answerInstead(response: ServerResponse, refusal: HttpProblem): void {
  const { status, body, fields } = lastAnswer(String(response.getHeader('X-Request-Id')), refusal);
  for (const name of response.getHeaderNames()) response.removeHeader(name);
  response.writeHead(status, STATUS_CODES[status], fields).end(body);
}

function lastAnswer(requestId: string, { problem, message, headers }: HttpProblem) {
  const body = problemBody(problem, message);
  const fields = {
    ...everyAnswersFields(requestId),
    'Content-Type': 'application/json',
    'Content-Length': String(Buffer.byteLength(body)),
    Connection: 'close',
    ...headers,
  };
  return { status: problem.status, body, fields };
}
