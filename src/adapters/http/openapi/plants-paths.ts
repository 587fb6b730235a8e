import { TAGS, withHeadAndOptions } from './operations';
import type { Operation, Parameter, Paths, Response } from './parts';
import { UNDER_PLANTS, failures, headersOf } from './responses';

export const IF_NONE_MATCH: Parameter = {
  name: 'If-None-Match',
  in: 'header',
  required: false,
  description: 'The `ETag` of an earlier answer: 304 where nothing has changed since.',
  schema: { type: 'string' },
};

const created = (): Response => ({
  description: 'Created.',
  headers: headersOf(),
  content: {
    'application/json': {
      schema: { $ref: '#/components/schemas/Plant' },
      examples: {
        tagged: { summary: 'With a tag', value: { name: 'Fern', tag: 'indoor' } },
        plain: { summary: 'Without', value: { name: 'Monstera' } },
      },
    },
  },
});

const listHeaders = () =>
  headersOf({
    'Cache-Control': 'PrivateNoCache',
    ETag: 'ETag',
    Vary: 'Vary',
    Link: 'Link',
  });

const createPlant = (): Operation => ({
  operationId: 'createPlant',
  summary: 'Create a plant',
  description:
    'Creates a new plant in the store. A 4xx or 50300 has changed nothing. After 50301, and only then, the outcome is unknown: create it again. 200 means that it is there, once; 40003 that a living plant has the id, which another client of the same user may have created.',
  tags: [TAGS.plants],
  requestBody: {
    required: true,
    description:
      'In UTF-8, without a content encoding. A member may be given twice only with the same value.',
    content: {
      'application/json': {
        schema: { $ref: '#/components/schemas/NewPlant' },
        examples: {
          tagged: { summary: 'With a tag', value: { id: 1, name: 'Fern', tag: 'indoor' } },
          plain: { summary: 'Without', value: { id: 2, name: 'Monstera' } },
        },
      },
    },
  },
  responses: {
    200: created(),
    ...failures(
      ...UNDER_PLANTS,
      'malformedJson',
      'invalidPlant',
      'idTaken',
      'unsupportedBody',
      'outcomeUnknown',
    ),
  },
});

const listPlants = (): Operation => ({
  operationId: 'listPlants',
  summary: 'List plants',
  description:
    'All plants that the user has access to, in order of creation. Where `limit` cuts the list, `Link` leads to the next page; a walk along the links meets every plant that lives through all of it exactly once.',
  tags: [TAGS.plants],
  parameters: [
    {
      name: 'limit',
      in: 'query',
      required: false,
      description:
        'The maximum number of plants, in decimal digits; no upper bound. Absent means all. To be given once.',
      schema: { type: 'integer', minimum: 0 },
    },
    {
      name: 'cursor',
      in: 'query',
      required: false,
      description: 'Where to go on: opaque, from the `Link` of an earlier answer.',
      schema: { type: 'string' },
    },
    IF_NONE_MATCH,
  ],
  responses: {
    200: {
      description: 'The plants.',
      headers: listHeaders(),
      content: {
        'application/json': {
          schema: { $ref: '#/components/schemas/Plants' },
          examples: {
            some: { summary: 'Two plants', value: [{ name: 'Fern', tag: 'indoor' }, { name: 'Monstera' }] },
            none: { summary: 'None', value: [] },
          },
        },
      },
    },
    304: { description: 'The list is the one that `If-None-Match` names.', headers: listHeaders() },
    ...failures(...UNDER_PLANTS, 'badQuery'),
  },
});

const deletePlant = (): Operation => ({
  operationId: 'deletePlant',
  summary: 'Delete a plant',
  description:
    'Deletes a single plant. Its id is then free again. After 50301 the outcome is unknown: delete it again. 204 and 40401 mean that no plant has the id; another client of the same user may have deleted it.',
  tags: [TAGS.plants],
  responses: {
    204: { description: 'Deleted.', headers: headersOf() },
    ...failures(...UNDER_PLANTS, 'badPathId', 'noSuchPlant', 'outcomeUnknown'),
  },
});

const ID: Parameter = {
  name: 'id',
  in: 'path',
  required: true,
  description:
    'The id of the plant, from −2⁶³ to 2⁶³−1, in its one canonical form: without leading zeros, plus sign, fraction or escapes, and not `-0`.',
  schema: { type: 'integer', format: 'int64' },
};

/** The three operations that all this is about. */
export function plantsPaths(): Paths {
  const failing = failures(...UNDER_PLANTS);
  return {
    '/plants': withHeadAndOptions({ post: createPlant(), get: listPlants() }, failing),
    '/plants/{id}': { parameters: [ID], ...withHeadAndOptions({ delete: deletePlant() }, failing) },
  };
}
