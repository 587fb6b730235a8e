import { type ListQuery, WHOLE_LIST } from '../../application';
import { HttpFailure, FAILURES } from './failures';

type PageQuery = Required<ListQuery>;

const PARAMETERS = ['limit', 'cursor'] as const;

/**
 * Matches a known parameter: its name, the brackets of `limit[]`, as some frameworks write it, and
 * its value. `(?<![^&])` is the start of the query or a place after `&`, and `(?![^&])` its end or a
 * place before `&`. The letters of a name are matched in their encoded form, too (`l` as `%6c` or
 * `%6C`), because a query may have thousands of parameters, and decoding a hundred ill-formed ones
 * takes a millisecond.
 */
const PARAMETER = new RegExp(
  `(?<![^&])(${PARAMETERS.map(encodedPattern).join('|')})((?:\\[|%5[bB])[^=&]*)?(?:=([^&]*))?(?![^&])`,
  'g',
);

function encodedPattern(name: string): string {
  return name.replaceAll(/./g, (letter) => {
    const hex = letter.charCodeAt(0).toString(16);
    return `(?:${letter}|%${hex.replace(/[a-f]/, (digit) => `[${digit}${digit.toUpperCase()}]`)})`;
  });
}

/** Unknown parameters are ignored, because proxies and clients add their own. */
export function parseQuery(querystring: string): PageQuery {
  if (querystring === '') return WHOLE_LIST;
  const given: { limit?: string; cursor?: string } = {};
  // `matchAll` would copy the pattern for each request.
  PARAMETER.lastIndex = 0;
  for (let match = PARAMETER.exec(querystring); match; match = PARAMETER.exec(querystring)) {
    const [, name, brackets, value = ''] = match;
    const known = decode(name!) as (typeof PARAMETERS)[number];
    if (brackets !== undefined || known in given) throw badQuery(`${known} takes one value`);
    given[known] = decode(value);
  }
  const { limit, cursor } = given;
  return {
    limit: limit === undefined ? WHOLE_LIST.limit : parseLimit(limit),
    after: cursor === undefined ? WHOLE_LIST.after : parseCursor(cursor),
  };
}

/** Equal queries have equal texts, so that a text can identify a cached page. */
export function formatQuery({ limit, after }: PageQuery): string {
  if (after === WHOLE_LIST.after) return limit === WHOLE_LIST.limit ? '' : `limit=${limit}`;
  const cursor = `cursor=${formatCursor(after)}`;
  return limit === WHOLE_LIST.limit ? cursor : `limit=${limit}&${cursor}`;
}

function badQuery(message: string): HttpFailure {
  return new HttpFailure(FAILURES.badQuery, { message });
}

/**
 * Returns `%` for ill-formed text, because no parameter accepts `%` as its value. URLSearchParams
 * would return U+FFFD instead.
 */
function decode(text: string): string {
  if (!/[%+]/.test(text)) return text;
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return '%';
  }
}

function parseLimit(text: string): number {
  if (!/^[0-9]+$/.test(text))
    throw badQuery('limit must be a number of plants in decimal digits, 0 or more');
  return Number(text);
}

const CURSOR_PREFIX = 'v1.';

function formatCursor(position: number): string {
  return Buffer.from(`${CURSOR_PREFIX}${position}`).toString('base64url');
}

function parseCursor(cursor: string): number {
  const position = Number(
    Buffer.from(cursor, 'base64url').toString('latin1').slice(CURSOR_PREFIX.length),
  );
  if (!(position > 0 && Number.isSafeInteger(position)) || formatCursor(position) !== cursor)
    throw badQuery('cursor must come from the Link of an earlier response');
  return position;
}
