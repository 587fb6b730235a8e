/** A request, and the status and body of its response; an error has only its number. */
type Exchange = readonly [
  method: string,
  path: string,
  body: string,
  status: number,
  answer: string | number,
];

const FERN = '{"id": 9007199254740993, "name": "F\u00e4rn", "tag": "indoor"}';
const MOSS = '{"id": 9007199254740992, "name": "Moss"}';

/** Begin and end with an empty list. The ids are one and the same if a client rounds them. */
const EXCHANGES: readonly Exchange[] = [
  ['GET', '/plants', '', 200, '[]'],
  ['POST', '/plants', FERN, 200, '{"name":"F\u00e4rn","tag":"indoor"}'],
  ['POST', '/plants', FERN, 400, 40003],
  ['POST', '/plants', MOSS, 200, '{"name":"Moss"}'],
  ['POST', '/plants', '{"name": "Moss"}', 400, 40002],
  ['GET', '/plants', '', 200, '[{"name":"F\u00e4rn","tag":"indoor"},{"name":"Moss"}]'],
  ['GET', '/plants?limit=1', '', 200, '[{"name":"F\u00e4rn","tag":"indoor"}]'],
  ['GET', '/plants?limit=one', '', 400, 40004],
  ['DELETE', '/plants/9007199254740993', '', 204, ''],
  ['DELETE', '/plants/9007199254740993', '', 404, 40401],
  ['GET', '/plants', '', 200, '[{"name":"Moss"}]'],
  ['PUT', '/plants', MOSS, 405, 40500],
  ['DELETE', '/plants/9007199254740992', '', 204, ''],
  ['GET', '/plants', '', 200, '[]'],
];

/** By request: method, path, token and body; the last two may be empty. */
export function requestsOf(token: string): readonly (readonly [string, string, string, string])[] {
  return [
    ...EXCHANGES.map(([method, path, body]) => [method, path, token, body] as const),
    ['GET', '/plants', '', ''],
  ];
}

/** What a program prints about the responses: on each line HTTP version, status and body. */
export const RESPONSES = [
  ...EXCHANGES.map(([, , , status, answer]) => `HTTP_1_1\t${status}\t${answer}`),
  'HTTP_1_1\t401\t40100',
];

/** The lines of a program, with the number of an error instead of its body. */
export function linesOf(output: string): string[] {
  const lines = output.split('\n').slice(0, -1);
  return lines.map((line) => line.replace(/\{"error":(\d+),"message":"[^"\\]+"\}$/, '$1'));
}
