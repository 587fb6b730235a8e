/** The header fields of answers. Those that HTTP itself asks for (Date, Connection, Content-Length …) are not told of. */
import type { Header, Reference } from './parts';

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
    description: 'May be kept by its reader alone, who has to ask each time (`If-None-Match`).',
    required: true,
    schema: { type: 'string', const: 'private, no-cache' },
  },
  NoCache: {
    description: 'May be kept; whoever keeps it has to ask each time (`If-None-Match`).',
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
      pattern: '^</plants\\?limit=[0-9]+&cursor=[A-Za-z0-9_-]+>; rel="next"$',
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
    description: 'A browser gets a page, everybody else JSON.',
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
