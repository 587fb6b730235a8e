/**
 * The JSON Schemas of all bodies: the one place where their shape stands.
 * Requests are validated against them (../new-plant.ts), the TypeScript types
 * come from them (below), and so do the checks of every answer in the tests.
 */
export const NewPlant = {
  type: 'object',
  description: 'A plant to be created. Other members are ignored.',
  required: ['name', 'id'],
  properties: {
    name: {
      type: 'string',
      minLength: 1,
      description: 'The name of the plant. Comes back character for character.',
    },
    id: {
      type: 'integer',
      format: 'int64',
      description:
        'Identification number of the plant: any JSON number whose value is an integer from −2⁶³ to 2⁶³−1 (`7`, `7.0`, `7e0`), exact to the last digit: 9007199254740993 and 9007199254740992 are two plants. Unique among the living plants of one user.',
    },
    tag: { type: 'string', description: 'Tag that specifies the type. `null` is refused.' },
  },
  examples: [{ id: 1, name: 'Fern', tag: 'indoor' }],
} as const;

export const Plant = {
  type: 'object',
  description: 'A plant as it is shown: never with its id.',
  required: ['name'],
  properties: {
    name: { type: 'string', minLength: 1, description: 'The name of the plant.' },
    tag: { type: 'string', description: 'Tag that specifies the type.' },
  },
  additionalProperties: false,
  examples: [{ name: 'Fern', tag: 'indoor' }],
} as const;

export const Plants = {
  type: 'array',
  description: 'In order of creation; a plant that was created again goes last.',
  items: { $ref: '#/components/schemas/Plant' },
  examples: [[{ name: 'Fern', tag: 'indoor' }, { name: 'Monstera' }]],
} as const;

export const ErrorBody = {
  type: 'object',
  description: 'What every failure is answered with.',
  required: ['error', 'message'],
  properties: {
    error: {
      type: 'integer',
      format: 'int32',
      description: 'What went wrong. The numbers are part of the interface and never change.',
    },
    message: {
      type: 'string',
      minLength: 1,
      description:
        'For people, and may change. Names the member and the rule, and never repeats what was sent.',
    },
  },
  additionalProperties: false,
} as const;

export const Health = {
  type: 'object',
  required: ['status'],
  properties: {
    status: { type: 'string' },
    reads: { type: 'boolean', description: 'Whether lists are answered.' },
    writes: { type: 'boolean', description: 'Whether the event store takes writes, as far as is known.' },
  },
  additionalProperties: false,
} as const;

export const Service = {
  type: 'object',
  description: 'What this is, and where to read on.',
  required: ['name', 'version', 'docs', 'openapi'],
  properties: {
    name: { type: 'string' },
    version: { type: 'string', description: 'Version of the interface.' },
    docs: { type: 'string', description: 'Where people read and try the interface.' },
    openapi: { type: 'string', description: 'Where the OpenAPI document is.' },
  },
  additionalProperties: false,
} as const;

/** By the name that each has in the document. */
export const schemas = { NewPlant, Plant, Plants, Error: ErrorBody, Health, Service } as const;

// The types of the bodies, derived from their schemas at compile time: there is nothing to keep up to date.
type Schemas = typeof schemas;

/** What a value is that keeps to the schema `S`. Knows the few words of JSON Schema that ours use. */
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
          : S extends { type: 'string' }
            ? string
            : S extends { type: 'boolean' }
              ? boolean
              : never;

type Plain<T> = { [K in keyof T]: T[K] };

/** The body of a create. */
export type NewPlantBody = Of<Schemas['NewPlant']>;
/** The response to a create. */
export type PlantBody = Of<Schemas['Plant']>;
/** The response to a list. */
export type PlantsBody = Of<Schemas['Plants']>;
/** The response to every failure. */
export type ErrorBody = Of<Schemas['Error']>;
/** The response of `/health/…` while all is well. */
export type HealthBody = Of<Schemas['Health']>;
/** The response of `/` to clients other than browsers. */
export type ServiceBody = Of<Schemas['Service']>;
