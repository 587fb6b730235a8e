import type { ListQuery } from '../../application';
import { HttpProblem, PROBLEMS } from './problems';

export type PageQuery = Required<ListQuery>;

const CURSOR_PREFIX = 'v1.';

/** What the query string of a list asks for. Throws {@link HttpProblem}; other parameters are ignored. */
export function listQueryFrom(querystring: string): PageQuery {
  if (querystring === '') return { limit: Infinity, after: 0 };
  const parameters = new URLSearchParams(querystring);
  for (const name of parameters.keys()) {
    // `limit[]` and its like are some frameworks' way to write a list: meant for us, and not understood.
    if (/^(?:limit|cursor)\[/.test(name))
      throw new HttpProblem(PROBLEMS.badQuery, 'limit and cursor take one value each');
  }
  const limit = single(parameters, 'limit');
  const cursor = single(parameters, 'cursor');
  return {
    limit: limit === undefined ? Infinity : parseLimit(limit),
    after: cursor === undefined ? 0 : parseCursor(cursor),
  };
}

function single(parameters: URLSearchParams, name: string): string | undefined {
  const values = parameters.getAll(name);
  if (values.length > 1) throw new HttpProblem(PROBLEMS.badQuery, `${name} must not be given twice`);
  return values[0];
}

function parseLimit(text: string): number {
  if (!/^[0-9]+$/.test(text)) {
    throw new HttpProblem(PROBLEMS.badQuery, 'limit must be a number of plants in decimal digits, 0 or more');
  }
  return Number(text);
}

/** A place in the list, in a form that clients have no reason to take apart. */
export function cursorAfter(position: number): string {
  return Buffer.from(`${CURSOR_PREFIX}${position}`).toString('base64url');
}

function parseCursor(cursor: string): number {
  const text = Buffer.from(cursor, 'base64url').toString('latin1');
  const position = Number(text.slice(CURSOR_PREFIX.length));
  if (!(position > 0 && Number.isSafeInteger(position)) || cursorAfter(position) !== cursor) {
    throw new HttpProblem(PROBLEMS.badQuery, 'cursor must come from the Link of an earlier answer');
  }
  return position;
}
