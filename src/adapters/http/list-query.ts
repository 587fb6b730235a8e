import { type ListQuery, WHOLE_LIST } from '../../application';
import { HttpProblem, PROBLEMS } from './problems';

/** What a list is requested with. */
export type PageQuery = Required<ListQuery>;

type Mutable<T> = { -readonly [Member in keyof T]: T[Member] };

/** How one member of the query stands in a URL. */
interface Parameter {
  readonly name: string;
  /** Throws {@link HttpProblem}. */
  readonly read: (query: Mutable<PageQuery>, text: string) => void;
  /** `name=value`; empty where the value is that of an absent parameter. */
  readonly write: (query: PageQuery) => string;
}

/** In the order in which a URL has them. */
const PARAMETERS = Object.values<Parameter>({
  limit: parameter('limit', 'limit', parseLimit, String),
  after: parameter('cursor', 'after', parseCursor, cursorOf),
} satisfies Record<keyof PageQuery, Parameter>);

/** @param format gives the one text of a value, with what a URL does not allow escaped. */
function parameter<Member extends keyof PageQuery>(
  name: string,
  member: Member,
  parse: (text: string) => PageQuery[Member],
  format: (value: PageQuery[Member]) => string,
): Parameter {
  return {
    name,
    read: (query, text) => void (query[member] = parse(text)),
    write: (query) => (query[member] === WHOLE_LIST[member] ? '' : `${name}=${format(query[member])}`),
  };
}

export const PARAMETER_NAMES: readonly string[] = PARAMETERS.map(({ name }) => name);

/** `limit[]` and its like are how some frameworks write a list. */
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
 * The one text of a query, as it stands in a URL behind the question mark: two queries for the same page have the
 * same one. The key of every cache of pages, and what `Link` leads to.
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

/** A place in the list, opaque to clients. */
function cursorOf(position: number): string {
  return Buffer.from(`${CURSOR_PREFIX}${position}`).toString('base64url');
}

function parseCursor(cursor: string): number {
  const text = Buffer.from(cursor, 'base64url').toString('latin1');
  const position = Number(text.slice(CURSOR_PREFIX.length));
  if (!(position > 0 && Number.isSafeInteger(position)) || cursorOf(position) !== cursor) {
    throw new HttpProblem(PROBLEMS.badQuery, 'cursor must come from the Link of an earlier answer');
  }
  return position;
}
