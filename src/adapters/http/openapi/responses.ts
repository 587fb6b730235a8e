/** What the answers of all operations share: their header fields, and the failures of the catalogue (../problems.ts). */
import { PROBLEMS } from '../problems';
import type { Header, Reference, Response, Responses } from './parts';
import type { ErrorBody } from './schemas';

/** The header fields. Those of HTTP itself (Date, Connection, Content-Length …) are left out. */
export const headers = {
  'X-Request-Id': {
    description: 'The one that was sent, where it is well-formed; else a new one. The log has it too.',
    required: true,
    schema: { type: 'string', pattern: '^[A-Za-z0-9._-]{1,64}$' },
  },
  'X-Content-Type-Options': {
    description: 'The body is what `Content-Type` says.',
    required: true,
    schema: { type: 'string', const: 'nosniff' },
  },
  'Cache-Control': {
    description: 'Not to be kept.',
    required: true,
    schema: { type: 'string', const: 'no-store' },
  },
  PrivateNoCache: {
    description: 'A private cache may store it, and must validate it each time (`If-None-Match`).',
    required: true,
    schema: { type: 'string', const: 'private, no-cache' },
  },
  NoCache: {
    description: 'A cache may store it, and must validate it each time (`If-None-Match`).',
    required: true,
    schema: { type: 'string', const: 'no-cache' },
  },
  ETag: {
    description: 'Names this state. Strong.',
    required: true,
    schema: { type: 'string', pattern: '^"[!#-~]+"$' },
  },
  Vary: {
    description: 'Another user gets another list.',
    required: true,
    schema: { type: 'string', const: 'Authorization' },
  },
  Link: {
    description: 'Where `limit` cut the list: the next page, `rel="next"`. To be followed as it is.',
    required: false,
    schema: {
      type: 'string',
      pattern: '^<(?:/[^?>]*)?/plants\\?[^ >]+>; rel="next"$',
      examples: ['</plants?limit=2&cursor=djEuMg>; rel="next"'],
    },
  },
  Allow: {
    description: 'The methods that there are at this path.',
    required: true,
    schema: { type: 'string', pattern: '^[A-Z]+(, [A-Z]+)*$', examples: ['GET, HEAD, POST, OPTIONS'] },
  },
  'WWW-Authenticate': {
    description: 'With `error="invalid_token"` where there were credentials (RFC 6750).',
    required: true,
    schema: { type: 'string', pattern: '^Bearer realm="plants"(, error="invalid_token")?$' },
  },
  Accept: {
    description: 'The media type that is taken.',
    required: true,
    schema: { type: 'string', const: 'application/json' },
  },
  'Accept-Encoding': {
    description: 'The content encoding that is taken, where another one was sent.',
    required: false,
    schema: { type: 'string', const: 'identity' },
  },
  'Retry-After': {
    description: 'Seconds to wait, with jitter.',
    required: true,
    schema: { type: 'string', pattern: '^[0-9]+$', examples: ['1'] },
  },
  'Content-Security-Policy': {
    description: 'Where it is a page: what that may do, which is nothing outside of this service.',
    required: false,
    schema: { type: 'string', pattern: "^default-src 'none'; " },
  },
  VaryAccept: {
    description: 'A browser gets a page, any other client JSON.',
    required: true,
    schema: { type: 'string', const: 'Accept' },
  },
} as const satisfies Record<string, Header>;

type Name = keyof typeof headers;
type References = Readonly<Record<string, Reference>>;

/** Of one answer, by their names in it; those of every answer are added. */
export function headersOf(own: Readonly<Record<string, Name>> = {}): References {
  const names: Readonly<Record<string, Name>> = {
    'X-Request-Id': 'X-Request-Id',
    'X-Content-Type-Options': 'X-Content-Type-Options',
    'Cache-Control': 'Cache-Control',
    ...own,
  };
  return Object.fromEntries(
    Object.entries(names).map(([name, component]) => [name, { $ref: `#/components/headers/${component}` }]),
  );
}

/** By status and number: what has happened, in the caller's words. */
const MEANINGS: Readonly<Record<keyof typeof PROBLEMS, string>> = {
  malformedHttp: 'Malformed HTTP; the connection is closed',
  malformedJson:
    'The body is not well-formed JSON in UTF-8, gives a member twice with different values, or is nested too deep',
  invalidPlant: 'The body is not a NewPlant; the message names the member and the rule',
  idTaken: 'The id is taken by a living plant of this user',
  badQuery: 'A parameter of the list is invalid; the message names it',
  badPathId: 'The id in the path is not a canonical int64',
  noCredentials: 'No credentials',
  badCredentials: 'Bad credentials',
  noSuchPath: 'There is nothing at this path',
  noSuchPlant: 'This user has no such plant',
  methodNotAllowed: 'The method is not allowed there; Allow lists those that are',
  tooSlow: 'The request did not arrive in time; the connection is closed',
  bodyTooLarge: 'The body is too large: over 64 KiB, unless configured otherwise',
  unsupportedBody:
    'The body is not application/json in UTF-8, or has a content encoding; Accept says what is taken',
  tooManyRequests:
    'Too many requests of this user are in flight: more than `MAX_USER_REQUESTS` on this instance',
  headersTooLarge: 'The header is larger than 16 KiB or has more than 100 fields',
  bug: 'A bug in the service',
  storeUnavailable:
    'Nothing was changed: the event store is away, slow, refusing or overloaded, or the service is about to end',
  outcomeUnknown: 'The write was not confirmed in time, and may or may not have happened: list, or repeat it',
};

const FIELDS: Readonly<Record<number, Readonly<Record<string, keyof typeof headers>>>> = {
  401: { 'WWW-Authenticate': 'WWW-Authenticate' },
  405: { Allow: 'Allow' },
  415: { Accept: 'Accept', 'Accept-Encoding': 'Accept-Encoding' },
  429: { 'Retry-After': 'Retry-After' },
  503: { 'Retry-After': 'Retry-After' },
};

type Kind = keyof typeof PROBLEMS;

/** What the operations have in common, and so stands in the document once. */
const SHARED: readonly Kind[] = ['tooSlow', 'bodyTooLarge', 'headersTooLarge', 'bug'];

export function sharedFailures(): Readonly<Record<string, Response>> {
  return Object.fromEntries(SHARED.map((kind) => [nameOf(kind), failure([kind])]));
}

/** The answers to what may fail in these ways, by status. */
export function failures(...kinds: readonly Kind[]): Responses {
  const statuses = new Set(kinds.map((kind) => PROBLEMS[kind].status));
  return Object.fromEntries(
    [...statuses].map((status) => {
      const some = kinds.filter((kind) => PROBLEMS[kind].status === status);
      return [status, SHARED.includes(some[0]!) ? reference(some[0]!) : failure(some)];
    }),
  );
}

function failure(kinds: readonly Kind[]): Response {
  return {
    description: kinds.map((kind) => `${MEANINGS[kind]} (${PROBLEMS[kind].error}).`).join(' '),
    headers: headersOf(FIELDS[PROBLEMS[kinds[0]!].status]),
    content: {
      'application/json': {
        schema: {
          $ref: '#/components/schemas/Error',
          properties: { error: { enum: kinds.map((kind) => PROBLEMS[kind].error) } },
        },
        examples: Object.fromEntries(kinds.map((kind) => [kind, example(kind)])),
      },
    },
  };
}

function example(kind: Kind) {
  const { error, message } = PROBLEMS[kind];
  return { summary: `${error}: ${MEANINGS[kind]}`, value: { error, message } satisfies ErrorBody };
}

function reference(kind: Kind): Reference {
  return { $ref: `#/components/responses/${nameOf(kind)}` };
}

function nameOf(kind: Kind): string {
  return kind[0]!.toUpperCase() + kind.slice(1);
}

/** Failures of any request. */
export const ANYWHERE = [
  'malformedHttp',
  'tooSlow',
  'bodyTooLarge',
  'headersTooLarge',
  'bug',
] as const satisfies Kind[];

/** Failures of requests under `/plants`. */
export const UNDER_PLANTS = [
  ...ANYWHERE,
  'noCredentials',
  'badCredentials',
  'tooManyRequests',
  'storeUnavailable',
] as const satisfies Kind[];
