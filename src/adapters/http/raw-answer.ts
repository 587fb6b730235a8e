import { STATUS_CODES, type ServerResponse } from 'node:http';
import { type HttpProblem, problemBody } from './problems';
import { everyAnswersFields } from './respond';

/** A whole answer in bytes, for what never became a request and so has no response object. Its connection ends behind it. */
export function rawAnswer(requestId: string, refusal: HttpProblem): string {
  const { status } = refusal.problem;
  const body = problemBody(refusal.problem, refusal.message);
  const fields = {
    ...everyAnswersFields(requestId),
    Date: new Date().toUTCString(),
    ...lastAnswersFields(body),
    ...refusal.headers,
  };
  const head = Object.entries(fields).map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${head.join('')}\r\n${body}`;
}

/** The same past Koa, which has set every answer's fields and may still be at work on an answer; this one comes first. */
export function answerInstead(response: ServerResponse, refusal: HttpProblem): void {
  const body = problemBody(refusal.problem, refusal.message);
  response.writeHead(refusal.problem.status, { ...lastAnswersFields(body), ...refusal.headers }).end(body);
}

function lastAnswersFields(body: string) {
  return {
    'Content-Type': 'application/json',
    'Content-Length': String(Buffer.byteLength(body)),
    Connection: 'close',
  };
}
