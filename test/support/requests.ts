import { TOKENS } from './watched-service';

/** The pieces that requests over a raw socket are put together from. */
export const HOST = 'Host: plants.example\r\n';
export const AUTH = `Authorization: Bearer ${TOKENS.alice}\r\n`;
export const JSON_TYPE = 'Content-Type: application/json\r\n';
export const END = '\r\n';

/** A request in HTTP/1.1 with all that it needs; `fields` are added, each with its line end. */
export function request(method: string, target: string, fields = '', body?: string): string {
  const framing =
    body === undefined ? '' : `${JSON_TYPE}Content-Length: ${Buffer.byteLength(body, 'latin1')}\r\n`;
  return `${method} ${target} HTTP/1.1\r\n${HOST}${AUTH}${framing}${fields}${END}${body ?? ''}`;
}

export function create(id: number, name = 'Fern', fields = ''): string {
  return request('POST', '/plants', fields, JSON.stringify({ id, name }));
}

export const LIST = request('GET', '/plants');
