import { TAGS, type Operation, type Parameter, type Paths, type Response } from './parts';
import { UNDER_PLANTS, failures, headersOf } from './responses';

export const IF_NONE_MATCH: Parameter = {
  name: 'If-None-Match',
  in: 'header',
  required: false,
  description: 'The `ETag` of an earlier response. If nothing has changed since, the response is 304.',
  schema: { type: 'string' },
};

const created = (): Response => ({
  description: 'The plant was created.',
  headers: headersOf(),
  content: {
    'application/json': {
      schema: { $ref: '#/components/schemas/Plant' },
      examples: {
        tagged: { summary: 'With a tag', value: { name: 'Fern', tag: 'indoor' } },
        plain: { summary: 'Without a tag', value: { name: 'Monstera' } },
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
    'Creates a new plant in the store. A 4xx or 50300 has changed nothing. After a 50301 the outcome is unknown: send the same request again. 200 then means that the plant exists, once; 40003 means that a living plant has the id, and another client of the same user may have created it.',
  tags: [TAGS.plants.name],
  requestBody: {
    required: true,
    description:
      'JSON in UTF-8, without a content encoding. If a member occurs twice, both values must be equal.',
    content: {
      'application/json': {
        schema: { $ref: '#/components/schemas/NewPlant' },
        examples: {
          tagged: { summary: 'With a tag', value: { id: 1, name: 'Fern', tag: 'indoor' } },
          plain: { summary: 'Without a tag', value: { id: 2, name: 'Monstera' } },
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
    'All plants that the user has access to, in order of creation. If `limit` truncates the list, `Link` has the URL of the next page. A client that follows the links gets every plant that lives throughout exactly once.',
  tags: [TAGS.plants.name],
  parameters: [
    {
      name: 'limit',
      in: 'query',
      required: false,
      description:
        'The maximum number of plants, in decimal digits, without an upper bound. Without it, the list has all plants.',
      schema: { type: 'integer', minimum: 0 },
    },
    {
      name: 'cursor',
      in: 'query',
      required: false,
      description: 'The start of the page: an opaque text from the `Link` of an earlier response.',
      schema: { type: 'string' },
    },
    IF_NONE_MATCH,
  ],
  responses: {
    200: {
      description: 'The plants of the user.',
      headers: listHeaders(),
      content: {
        'application/json': {
          schema: { $ref: '#/components/schemas/Plants' },
          examples: {
            some: { summary: 'Two plants', value: [{ name: 'Fern', tag: 'indoor' }, { name: 'Monstera' }] },
            none: { summary: 'No plants', value: [] },
          },
        },
      },
    },
    304: { description: 'The list still has the `ETag` of `If-None-Match`.', headers: listHeaders() },
    ...failures(...UNDER_PLANTS, 'badQuery'),
  },
});

const deletePlant = (): Operation => ({
  operationId: 'deletePlant',
  summary: 'Delete a plant',
  description:
    'Deletes a single plant. Its id can then be used again. After a 50301 the outcome is unknown: send the same request again. 204 and 40401 then mean that no plant has the id; another client of the same user may have deleted it.',
  tags: [TAGS.plants.name],
  responses: {
    204: { description: 'The plant was deleted.', headers: headersOf() },
    ...failures(...UNDER_PLANTS, 'badPathId', 'noSuchPlant', 'outcomeUnknown'),
  },
});

const ID: Parameter = {
  name: 'id',
  in: 'path',
  required: true,
  description:
    'The id of the plant, from −2⁶³ to 2⁶³−1, in canonical form: no leading zeros, plus sign, fraction or percent-encoding, and not `-0`.',
  schema: { type: 'integer', format: 'int64' },
};

/** The operations on plants. */
export function plantsPaths(): Paths {
  return {
    '/plants': { post: createPlant(), get: listPlants() },
    '/plants/{id}': { parameters: [ID], delete: deletePlant() },
  };
}
