import { STATUS_CODES } from 'node:http';

/** An answer as it stood on the wire. */
export interface Answer {
  readonly status: number;
  /** By lower-case name; no answer may give a field twice. */
  readonly fields: ReadonlyMap<string, string>;
  readonly body: Buffer;
}

const STATUS_LINE = /^HTTP\/1\.1 ([1-5]\d\d) ([ -~]+)$/;
const FIELD = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+): ([!-~](?:[ -~]*[!-~])?)$/;

/**
 * The answer that `bytes` begin with, and what is behind it; `undefined` where
 * it has not come whole yet. Far stricter than a client would be: throws at
 * whatever this service has no reason to send.
 */
export function parseAnswer(bytes: Buffer, method: string): [Answer, rest: Buffer] | undefined {
  const headEnd = bytes.indexOf('\r\n\r\n');
  if (headEnd === -1) return undefined;
  const [statusLine = '', ...lines] = bytes.toString('latin1', 0, headEnd).split('\r\n');

  const [, code, reason] = STATUS_LINE.exec(statusLine) ?? refuse(`no status line: ${statusLine}`);
  const status = Number(code);
  if (reason !== STATUS_CODES[status]) refuse(`not the reason of ${status}: ${reason!}`);

  const fields = new Map<string, string>();
  for (const line of lines) {
    const [, name, value] = FIELD.exec(line) ?? refuse(`no header field: ${line}`);
    if (fields.has(name!.toLowerCase())) refuse(`a field given twice: ${line}`);
    fields.set(name!.toLowerCase(), value!);
  }

  if (status < 200 && fields.size > 0) refuse(`${status} with fields`);
  if (status >= 200 && Number.isNaN(Date.parse(fields.get('date') ?? ''))) refuse('no date');

  const length = bodyLength(status, fields, method);
  const bodyStart = headEnd + 4;
  if (bytes.length < bodyStart + length) return undefined;
  const body = bytes.subarray(bodyStart, bodyStart + length);
  return [{ status, fields, body }, bytes.subarray(bodyStart + length)];
}

/** The number of an error answer. */
export function errorOf({ body }: Answer): number {
  return (JSON.parse(body.toString()) as { error: number }).error;
}

function bodyLength(status: number, fields: ReadonlyMap<string, string>, method: string): number {
  if (fields.has('transfer-encoding')) refuse('every length is known, so nothing need be chunked');
  const length = fields.get('content-length');
  if (status < 200 || status === 204 || status === 304) {
    if (length !== undefined && status !== 304) refuse(`${status} has no body, and no length of one`);
    return 0;
  }
  if (length === undefined || !/^(?:0|[1-9]\d*)$/.test(length)) refuse(`no length: ${length ?? ''}`);
  return method === 'HEAD' ? 0 : Number(length);
}

function refuse(why: string): never {
  throw new Error(`not a well-formed answer: ${why}`);
}
