import { type ListQuery, WHOLE_LIST } from '../../../application';
import { HttpProblem, PROBLEMS } from '../app/problems';
import type { Parameter, Schema } from '../openapi/parts';

/** The parameters of a list request, all present. */
type PageQuery = Required<ListQuery>;

type Mutable<T> = { -readonly [Member in keyof T]: T[Member] };

/** How one member of the query is written in a URL. */
interface QueryParameter {
  /** In the OpenAPI document. */
  readonly documented: Parameter;
  /** Throws {@link HttpProblem}. */
  readonly read: (query: Mutable<PageQuery>, text: string) => void;
  /** `name=value`; empty if the value is that of an absent parameter. */
  readonly write: (query: PageQuery) => string;
}

/** In their order in a URL. */
const PARAMETERS = Object.values<QueryParameter>({
  limit: parameter('limit', 'limit', parseLimit, String, {
    description:
      'The maximum number of plants, in decimal digits, without an upper bound. Without it, the list has all plants.',
    schema: { type: 'integer', minimum: 0 },
  }),
  after: parameter('cursor', 'after', parseCursor, cursorOf, {
    description: 'The start of the page: an opaque text from the `Link` of an earlier response.',
    schema: { type: 'string' },
  }),
} satisfies Record<keyof PageQuery, QueryParameter>);

/** @param format returns the canonical text of a value, escaped for a URL. */
function parameter<Member extends keyof PageQuery>(
  name: string,
  member: Member,
  parse: (text: string) => PageQuery[Member],
  format: (value: PageQuery[Member]) => string,
  documented: { readonly description: string; readonly schema: Schema },
): QueryParameter {
  return {
    documented: { name, in: 'query', required: false, ...documented },
    read: (query, text) => void (query[member] = parse(text)),
    write: (query) => (query[member] === WHOLE_LIST[member] ? '' : `${name}=${format(query[member])}`),
  };
}

/** The parameters in the OpenAPI document. */
export const QUERY_PARAMETERS = PARAMETERS.map(({ documented }) => documented);

const BY_NAME = new Map(PARAMETERS.map((each) => [each.documented.name, each]));
/** Throws {@link HttpProblem}. Unknown parameters are ignored: proxies and clients add their own. */
export function parseQuery(querystring: string): PageQuery {
  if (querystring === '') return WHOLE_LIST;
  const query = { ...WHOLE_LIST };
  const seen = new Set<string>();
  for (const part of querystring.split('&')) {
    const end = part.includes('=') ? part.indexOf('=') : part.length;
    // Some frameworks write a list as `limit[]`.
    const [name, bracket] = decode(part.slice(0, end))?.split('[', 2) ?? [];
    const known = BY_NAME.get(name!);
    if (known === undefined) continue;
    if (bracket !== undefined) throw badQuery(`${name} takes one value`);
    if (seen.has(name!)) throw badQuery(`${name} must not be given twice`);
    seen.add(name!);
    const text = decode(part.slice(end + 1));
    if (text === undefined) throw badQuery(`${name} must be UTF-8, with the escapes of a URL`);
    known.read(query, text);
  }
  return query;
}

function badQuery(message: string): HttpProblem {
  return new HttpProblem(PROBLEMS.badQuery, message);
}

/** `undefined` if it is ill-formed. (URLSearchParams would replace what is ill-formed by U+FFFD.) */
function decode(text: string): string | undefined {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return undefined;
  }
}

/**
 * The canonical text of a query, without the question mark: equal for all queries of the same page. It is the key of
 * the page cache and the query of `Link`.
 */
export function canonical(query: PageQuery): string {
  let text = '';
  for (const { write } of PARAMETERS) {
    const parameter = write(query);
    if (parameter !== '') text += text === '' ? parameter : `&${parameter}`;
  }
  return text;
}

function parseLimit(text: string): number {
  if (!/^[0-9]+$/.test(text)) throw badQuery('limit must be a number of plants in decimal digits, 0 or more');
  return Number(text);
}

const CURSOR_PREFIX = 'v1.';

/** A position in the list, opaque to clients. */
function cursorOf(position: number): string {
  return Buffer.from(`${CURSOR_PREFIX}${position}`).toString('base64url');
}

function parseCursor(cursor: string): number {
  const text = Buffer.from(cursor, 'base64url').toString('latin1');
  const position = Number(text.slice(CURSOR_PREFIX.length));
  if (!(position > 0 && Number.isSafeInteger(position)) || cursorOf(position) !== cursor)
    throw badQuery('cursor must come from the Link of an earlier response');
  return position;
}
