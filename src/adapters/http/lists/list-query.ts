import { type ListQuery, WHOLE_LIST } from '../../../application';
import { HttpProblem, PROBLEMS } from '../app/problems';

/** The parameters of a list request, all present. */
export type PageQuery = Required<ListQuery>;

type Mutable<T> = { -readonly [Member in keyof T]: T[Member] };

/** How one member of the query is written in a URL. */
interface QueryParameter {
  readonly name: string;
  /** Throws {@link HttpProblem}. */
  readonly read: (query: Mutable<PageQuery>, text: string) => void;
  /** `name=value`; empty if the value is that of an absent parameter. */
  readonly write: (query: PageQuery) => string;
}

/** In their order in a URL. */
const PARAMETERS = Object.values<QueryParameter>({
  limit: parameter('limit', 'limit', parseLimit, String),
  after: parameter('cursor', 'after', parseCursor, cursorOf),
} satisfies Record<keyof PageQuery, QueryParameter>);

/** @param format returns the canonical text of a value, escaped for a URL. */
function parameter<Member extends keyof PageQuery>(
  name: string,
  member: Member,
  parse: (text: string) => PageQuery[Member],
  format: (value: PageQuery[Member]) => string,
): QueryParameter {
  return {
    name,
    read: (query, text) => void (query[member] = parse(text)),
    write: (query) => (query[member] === WHOLE_LIST[member] ? '' : `${name}=${format(query[member])}`),
  };
}

export const PARAMETER_NAMES: readonly string[] = PARAMETERS.map(({ name }) => name);

/** Some frameworks write a list as `limit[]`. */
const NAME_OF_LIST = new RegExp(`^(${PARAMETER_NAMES.join('|')})\\[`);

/** Throws {@link HttpProblem}. Unknown parameters are ignored. */
export function parseQuery(querystring: string): PageQuery {
  if (querystring === '') return WHOLE_LIST;
  const sent = new URLSearchParams(querystring);
  for (const name of sent.keys()) {
    const [, parameter] = NAME_OF_LIST.exec(name) ?? [];
    if (parameter !== undefined) throw new HttpProblem(PROBLEMS.badQuery, `${parameter} takes one value`);
  }
  const query = { ...WHOLE_LIST };
  for (const { name, read } of PARAMETERS) {
    const [value, second] = sent.getAll(name);
    if (second !== undefined) throw new HttpProblem(PROBLEMS.badQuery, `${name} must not be given twice`);
    if (value !== undefined) read(query, value);
  }
  return query;
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
  if (!/^[0-9]+$/.test(text)) {
    throw new HttpProblem(PROBLEMS.badQuery, 'limit must be a number of plants in decimal digits, 0 or more');
  }
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
  if (!(position > 0 && Number.isSafeInteger(position)) || cursorOf(position) !== cursor) {
    throw new HttpProblem(PROBLEMS.badQuery, 'cursor must come from the Link of an earlier response');
  }
  return position;
}
