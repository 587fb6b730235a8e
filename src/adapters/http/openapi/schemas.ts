/**
 * The JSON Schemas of all bodies: the one place where their shape stands.
 * Requests are validated against them (../new-plant.ts), the TypeScript types
 * come from them (bodies.ts), and so do the checks of every answer in the tests.
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
