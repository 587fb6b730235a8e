import { STATUS_CODES, type ServerResponse } from 'node:http';
import { type Headers, HttpProblem, type Problem } from './problems';
import { requestIdOf } from './request';

/** What a request is answered with, but for what every answer carries. A value: whoever makes it sends nothing. */
export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly body?: string | Buffer;
}

/** @param body in UTF-8, or what becomes that. */
export function whole(status: number, type: string, body: string | Buffer, headers?: Headers): Answer {
  const content = { 'Content-Type': type, 'Content-Length': String(Buffer.byteLength(body)) };
  return { status, headers: { ...headers, ...content }, body };
}

/** @param text JSON, in well-formed Unicode. */
export function json(status: number, text: string | Buffer, headers?: Headers): Answer {
  // No charset: application/json does not have one (RFC 8259, 11).
  return whole(status, 'application/json', text, headers);
}

export function noContent(headers: Headers = {}): Answer {
  return { status: 204, headers };
}

/** The answer to a request that fails: the Error of the contract. */
export function failure(problem: Problem, message: string = problem.message, headers?: Headers): Answer {
  return json(problem.status, JSON.stringify({ error: problem.error, message }), headers);
}

export function failureOf({ problem, message, headers }: HttpProblem): Answer {
  return failure(problem, message, headers);
}

/**
 * Sends it, unless there was an answer already. Past Koa's own response, which would take the status, the fields
 * and the body one by one, each with rules of its own. To HEAD Node sends the same header, and leaves the body out.
 */
export function send(response: ServerResponse, answer: Answer, last: boolean): void {
  if (response.headersSent) return;
  response.writeHead(answer.status, header(requestIdOf(response.req), answer, last)).end(answer.body);
}

/** The same in bytes, for what never became a request and so has no response object. Its connection ends behind it. */
export function inBytes(requestId: string, answer: Answer): string {
  const fields = Object.entries({ ...header(requestId, answer, true), Date: new Date().toUTCString() });
  const lines = fields.map(([name, value]) => `${name}: ${value}\r\n`).join('');
  return `HTTP/1.1 ${answer.status} ${STATUS_CODES[answer.status]}\r\n${lines}\r\n${String(answer.body)}`;
}

function header(requestId: string, { headers }: Answer, last: boolean): Headers {
  const fields: Record<string, string> = {
    'X-Request-Id': requestId,
    'X-Content-Type-Options': 'nosniff',
    // Who may keep an answer says so itself.
    'Cache-Control': 'no-store',
    ...headers,
  };
  if (last) fields['Connection'] = 'close';
  return fields;
}
