/**
 * The JSON Schemas of all bodies. Requests are validated against them, the
 * TypeScript types are derived from them (below), and the tests check every
 * response against them.
 */
import { MEMBERS, MEMBER_NAMES, type Member, type MemberName, type Plant } from '../../../domain';

/** The schema of a member of a plant. */
function memberSchema({ minLength, description }: Member) {
  return { type: 'string', ...(minLength > 0 && { minLength }), description } as const;
}

const members = Object.fromEntries(
  MEMBER_NAMES.map((name) => [name, memberSchema(MEMBERS[name])]),
) as Readonly<Record<MemberName, ReturnType<typeof memberSchema>>>;

const required = MEMBER_NAMES.filter((name) => !MEMBERS[name].optional);

export const newPlantSchema = {
  type: 'object',
  description: 'A plant to be created. Other members are ignored; `null` is refused.',
  required: [...required, 'id'],
  properties: {
    ...members,
    id: {
      type: 'integer',
      format: 'int64',
      description:
        'The id of the plant: a JSON number whose value is an integer from −2⁶³ to 2⁶³−1 (`7`, `7.0`, `7e0`). Ids are exact: 9007199254740993 and 9007199254740992 are two plants. An id is unique among the living plants of one user.',
    },
  },
  examples: [{ id: 1, name: 'Fern', tag: 'indoor' }],
} as const;

const plantSchema = {
  type: 'object',
  description: 'A plant as it is returned, without its id.',
  required,
  properties: members,
  additionalProperties: false,
  examples: [{ name: 'Fern', tag: 'indoor' }],
} as const;

export const Plants = {
  type: 'array',
  description: 'Plants in order of creation. A plant that was deleted and created again is last.',
  items: { $ref: '#/components/schemas/Plant' },
  examples: [[{ name: 'Fern', tag: 'indoor' }, { name: 'Monstera' }]],
} as const;

export const Failure = {
  type: 'object',
  description: 'The body of every failure.',
  required: ['error', 'message'],
  properties: {
    error: {
      type: 'integer',
      format: 'int32',
      description: 'The kind of failure. The numbers are part of the interface and never change.',
    },
    message: {
      type: 'string',
      minLength: 1,
      description:
        'An explanation for people, which may change. It names the member and the rule, and never repeats input.',
    },
  },
  additionalProperties: false,
} as const;

export const Live = {
  type: 'object',
  description: 'The process serves requests.',
  required: ['status'],
  properties: { status: { type: 'string', const: 'live', description: 'Always `live`.' } },
  additionalProperties: false,
} as const;

export const Ready = {
  type: 'object',
  description: 'The instance should receive requests.',
  required: ['status', 'reads', 'writes'],
  properties: {
    status: { type: 'string', const: 'ready', description: 'Always `ready`.' },
    reads: { type: 'boolean', description: 'Whether lists succeed.' },
    writes: { type: 'boolean', description: 'Whether the event store accepts writes, as far as is known.' },
    reasons: {
      type: 'array',
      items: { type: 'string' },
      description: 'Why it accepts none, for operators. The words may change.',
    },
  },
  additionalProperties: false,
} as const;

export const Service = {
  type: 'object',
  description: 'The service, and the URLs of its documentation.',
  required: ['name', 'version', 'docs', 'openapi'],
  properties: {
    name: { type: 'string', description: 'The name of the service.' },
    version: { type: 'string', description: 'The version of the interface.' },
    docs: { type: 'string', description: 'The URL of a page to read about the interface and to try it.' },
    openapi: { type: 'string', description: 'The URL of the OpenAPI document.' },
  },
  additionalProperties: false,
} as const;

/** By name in the document. */
export const schemas = {
  NewPlant: newPlantSchema,
  Plant: plantSchema,
  Plants,
  Failure,
  Live,
  Ready,
  Service,
} as const;

// The types of the bodies, derived from their schemas at compile time.
type Schemas = typeof schemas;

/** The type of values that match the schema `S`, for the keywords of JSON Schema that are used here. */
type Of<S> = S extends { $ref: `#/components/schemas/${infer Name extends keyof Schemas}` }
  ? Of<Schemas[Name]>
  : S extends { type: 'object'; properties: infer P; required: readonly (infer R)[] }
    ? Plain<
        { readonly [K in keyof P as K extends R ? K : never]: Of<P[K]> } & {
          readonly [K in keyof P as K extends R ? never : K]?: Of<P[K]>;
        }
      >
    : S extends { type: 'array'; items: infer I }
      ? readonly Of<I>[]
      : // A JavaScript number is exact up to 2^53 only.
        S extends { type: 'integer'; format: 'int64' }
        ? number | bigint
        : S extends { type: 'integer' }
          ? number
          : S extends { type: 'string'; const: infer C }
            ? C
            : S extends { type: 'string' }
              ? string
              : S extends { type: 'boolean' }
                ? boolean
                : never;

type Plain<T> = { [K in keyof T]: T[K] };

/** The body of a create. */
export type NewPlantBody = Plant & { readonly id: Of<Schemas['NewPlant']['properties']['id']> };
export type FailureBody = Of<Schemas['Failure']>;
/** The response of `/health/live`. */
export type LiveBody = Of<Schemas['Live']>;
/** The response of `/health/ready` while the instance is ready. */
export type ReadyBody = Of<Schemas['Ready']>;
/** The response of `/` to clients other than browsers. */
export type ServiceBody = Of<Schemas['Service']>;
