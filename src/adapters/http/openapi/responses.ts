/** The common parts of responses: their header fields, and the failures of the catalogue `PROBLEMS`. */
import { type FailureKind, PROBLEMS, statusOf } from '../app/problems';
import type { Header, Reference, Response, Responses } from './parts';
import type { FailureBody } from './schemas';

/** The header fields, without those of HTTP itself (Date, Connection, Content-Length …). */
export const headers = {
  'X-Request-Id': {
    description: 'The id of the request, if it was well-formed, otherwise a new one. The log has it, too.',
    required: true,
    schema: { type: 'string', pattern: '^[A-Za-z0-9._-]{1,64}$' },
  },
  'X-Content-Type-Options': {
    description: 'Browsers must not guess another type than `Content-Type`.',
    required: true,
    schema: { type: 'string', const: 'nosniff' },
  },
  'Cache-Control': {
    description: 'No cache may store the response.',
    required: true,
    schema: { type: 'string', const: 'no-store' },
  },
  PrivateNoCache: {
    description:
      'A private cache may store the response, and must revalidate it each time (`If-None-Match`).',
    required: true,
    schema: { type: 'string', const: 'private, no-cache' },
  },
  NoCache: {
    description: 'A cache may store the response, and must revalidate it each time (`If-None-Match`).',
    required: true,
    schema: { type: 'string', const: 'no-cache' },
  },
  ETag: {
    description: 'A strong entity tag of this content.',
    required: true,
    schema: { type: 'string', pattern: '^"[!#-~]+"$' },
  },
  Vary: {
    description: 'The list depends on the user.',
    required: true,
    schema: { type: 'string', const: 'Authorization' },
  },
  Link: {
    description: 'If `limit` truncated the list: the URL of the next page, with `rel="next"`.',
    required: false,
    schema: {
      type: 'string',
      pattern: '^<(?:/[^?>]*)?/plants\\?[^ >]+>; rel="next"$',
      examples: ['</plants?limit=2&cursor=djEuMg>; rel="next"'],
    },
  },
  'WWW-Authenticate': {
    description: 'The challenge of RFC 6750, with `error="invalid_token"` if the request had credentials.',
    required: true,
    schema: { type: 'string', pattern: '^Bearer realm="plants"(, error="invalid_token")?$' },
  },
  Accept: {
    description: 'The media type that a body must have.',
    required: true,
    schema: { type: 'string', const: 'application/json' },
  },
  'Accept-Encoding': {
    description: 'The content encoding that a body must have, if the request had another one.',
    required: false,
    schema: { type: 'string', const: 'identity' },
  },
  'Retry-After': {
    description: 'The number of seconds to wait before a retry, with jitter.',
    required: true,
    schema: { type: 'string', pattern: '^[0-9]+$', examples: ['1'] },
  },
  'Content-Security-Policy': {
    description: 'On a page: it may load and connect to this service only.',
    required: false,
    schema: { type: 'string', pattern: "^default-src 'none'; " },
  },
  VaryAcceptEncoding: {
    description: 'The content is compressed if the client accepts that.',
    required: true,
    schema: { type: 'string', const: 'Accept-Encoding' },
  },
  'Content-Encoding': {
    description: 'Absent if the content is not compressed.',
    required: false,
    schema: { type: 'string', const: 'gzip' },
  },
  VaryAccept: {
    description: 'A browser gets a page, any other client gets JSON.',
    required: true,
    schema: { type: 'string', const: 'Accept' },
  },
} as const satisfies Record<string, Header>;

/** Not a component: linters count no references from extensions such as `x-options`. */
const ALLOW: Header = {
  description: 'The methods of this path.',
  required: true,
  schema: { type: 'string', pattern: '^[A-Z]+(, [A-Z]+)*$', examples: ['GET, HEAD, POST, OPTIONS'] },
};

/** The name of a component, or the header field itself. */
type Field = keyof typeof headers | Header;

/** The header fields of a response: its own, by field name, and those of every response. */
export function headersOf(own: Readonly<Record<string, Field>> = {}): Response['headers'] {
  const fields: Readonly<Record<string, Field>> = {
    'X-Request-Id': 'X-Request-Id',
    'X-Content-Type-Options': 'X-Content-Type-Options',
    'Cache-Control': 'Cache-Control',
    ...own,
  };
  return Object.fromEntries(
    Object.entries(fields).map(([name, field]) => [
      name,
      typeof field === 'string' ? { $ref: `#/components/headers/${field}` } : field,
    ]),
  );
}

/** The meaning of each failure for a client. */
const MEANINGS: Readonly<Record<FailureKind, string>> = {
  malformedHttp: 'The request is malformed HTTP; the connection is closed',
  malformedJson:
    'The body is not well-formed JSON in UTF-8, has a member twice with different values, or is nested too deep',
  invalidBody:
    'The body does not have the schema of the operation; the message names the member and the rule',
  idTaken: 'The id is taken by a living plant of this user',
  badQuery: 'A parameter of the list is invalid; the message names it',
  badPathId: 'The id in the path is not a canonical int64',
  noCredentials: 'There are no credentials',
  badCredentials: 'The credentials are invalid',
  noSuchPath: 'The path does not exist',
  noSuchPlant: 'This user has no such plant',
  methodNotAllowed: 'The path does not allow the method; Allow lists the allowed ones',
  tooSlow: 'The request did not arrive in time; the connection is closed',
  bodyTooLarge: 'The body is larger than `BODY_LIMIT` (64 KiB)',
  unsupportedBody:
    'The body is not application/json in UTF-8, or has a content encoding; Accept says what is allowed',
  tooManyRequests:
    'Too many requests of this user are in flight: more than `MAX_USER_REQUESTS` on this instance',
  headersTooLarge: 'The header is larger than 16 KiB or has more than 100 fields',
  bug: 'The service has a bug',
  unavailable:
    'Nothing was changed: the event store is unavailable, too slow or overloaded, or the service is overloaded or shutting down',
  outcomeUnknown: 'The write was not confirmed in time, so its outcome is unknown: repeat the request',
};

const FIELDS: Readonly<Record<number, Readonly<Record<string, Field>>>> = {
  401: { 'WWW-Authenticate': 'WWW-Authenticate' },
  405: { Allow: ALLOW },
  415: { Accept: 'Accept', 'Accept-Encoding': 'Accept-Encoding' },
  429: { 'Retry-After': 'Retry-After' },
  503: { 'Retry-After': 'Retry-After' },
};

/** Failures of all operations. The document has the response once. */
const SHARED: readonly FailureKind[] = ['tooSlow', 'bodyTooLarge', 'headersTooLarge', 'bug'];

export function sharedFailures(): Readonly<Record<string, Response>> {
  return Object.fromEntries(SHARED.map((kind) => [nameOf(kind), failure([kind])]));
}

/** The responses to these failures, by status. */
export function failures(...kinds: readonly FailureKind[]): Responses {
  const statuses = new Set(kinds.map((kind) => statusOf(PROBLEMS[kind])));
  return Object.fromEntries(
    [...statuses].map((status) => {
      const some = kinds.filter((kind) => statusOf(PROBLEMS[kind]) === status);
      return [status, SHARED.includes(some[0]!) ? reference(some[0]!) : failure(some)];
    }),
  );
}

function failure(kinds: readonly FailureKind[]): Response {
  return {
    description: kinds.map((kind) => `${MEANINGS[kind]} (${PROBLEMS[kind].error}).`).join(' '),
    headers: headersOf(FIELDS[statusOf(PROBLEMS[kinds[0]!])]),
    content: {
      'application/json': {
        // Generators of clients ignore members beside a $ref.
        schema: {
          allOf: [
            { $ref: '#/components/schemas/Failure' },
            { type: 'object', properties: { error: { enum: kinds.map((kind) => PROBLEMS[kind].error) } } },
          ],
        },
        examples: Object.fromEntries(kinds.map((kind) => [kind, example(kind)])),
      },
    },
  };
}

function example(kind: FailureKind) {
  const { error, message } = PROBLEMS[kind];
  return { summary: `${error}: ${MEANINGS[kind]}`, value: { error, message } satisfies FailureBody };
}

function reference(kind: FailureKind): Reference {
  return { $ref: `#/components/responses/${nameOf(kind)}` };
}

function nameOf(kind: FailureKind): string {
  return kind[0]!.toUpperCase() + kind.slice(1);
}

/** Failures of any request. */
export const ANYWHERE = [
  'malformedHttp',
  'tooSlow',
  'bodyTooLarge',
  'headersTooLarge',
  'bug',
] as const satisfies FailureKind[];

/** Failures of requests that need a user. */
export const OF_USERS = [
  ...ANYWHERE,
  'noCredentials',
  'badCredentials',
  'tooManyRequests',
  'unavailable',
] as const satisfies FailureKind[];

/** The responses to OPTIONS, at any path. */
export function optionsResponses(): Responses {
  return {
    204: { description: 'The methods of the path.', headers: headersOf({ Allow: ALLOW }) },
    ...failures(...OF_USERS),
  };
}
