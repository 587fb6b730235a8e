/**
 * The operations on plants. Each needs a token, and works on the plants of its user. The router, authentication, the
 * OpenAPI document and the tests follow from this table; `app/plants` has the handlers.
 */
import { QUERY_PARAMETERS } from '../lists/list-query';
import { IF_NONE_MATCH, type Parameter, jsonContent, tagged } from './parts';
import { headersOf } from './responses';

const PLANTS = { name: 'Plants', description: 'Create, list and delete plants.' };

export const PLANT_OPERATIONS = tagged(PLANTS, {
  createPlant: {
    method: 'POST',
    path: '/plants',
    summary: 'Create a plant',
    description:
      'Creates a new plant in the store. A 4xx or 50300 has changed nothing. After a 50301 the outcome is unknown: send the same request again. 200 then means that the plant exists, once; 40003 means that a living plant has the id, and another client of the same user may have created it.',
    requestBody: {
      required: true,
      description:
        'JSON in UTF-8, without a content encoding. If a member occurs twice, both values must be equal.',
      content: jsonContent('NewPlant', {
        tagged: { summary: 'With a tag', value: { id: 1, name: 'Fern', tag: 'indoor' } },
        plain: { summary: 'Without a tag', value: { id: 2, name: 'Monstera' } },
      }),
    },
    responses: {
      200: {
        description: 'The plant was created.',
        headers: headersOf(),
        content: jsonContent('Plant', {
          tagged: { summary: 'With a tag', value: { name: 'Fern', tag: 'indoor' } },
          plain: { summary: 'Without a tag', value: { name: 'Monstera' } },
        }),
      },
    },
    failures: ['idTaken'],
  },

  listPlants: {
    method: 'GET',
    path: '/plants',
    summary: 'List plants',
    description:
      'All plants that the user has access to, in order of creation. Unknown parameters are ignored. If `limit` truncates the list, `Link` has the URL of the next page. A client that follows the links gets every plant that lives throughout exactly once.',
    parameters: [...QUERY_PARAMETERS, IF_NONE_MATCH],
    responses: {
      200: {
        description: 'The plants of the user.',
        headers: listHeaders(),
        content: jsonContent('Plants', {
          some: { summary: 'Two plants', value: [{ name: 'Fern', tag: 'indoor' }, { name: 'Monstera' }] },
          none: { summary: 'No plants', value: [] },
        }),
      },
      304: { description: 'The list still has the `ETag` of `If-None-Match`.', headers: listHeaders() },
    },
  },

  deletePlant: {
    method: 'DELETE',
    path: '/plants/{id}',
    summary: 'Delete a plant',
    description:
      'Deletes a single plant. Its id can then be used again. After a 50301 the outcome is unknown: send the same request again. 204 and 40401 then mean that no plant has the id; another client of the same user may have deleted it.',
    parameters: [plantId()],
    responses: { 204: { description: 'The plant was deleted.', headers: headersOf() } },
    failures: ['noSuchPlant'],
  },
});

export type PlantOperationId = keyof typeof PLANT_OPERATIONS;

function plantId(): Parameter {
  return {
    name: 'id',
    in: 'path',
    required: true,
    description:
      'The id of the plant, from −2⁶³ to 2⁶³−1, in canonical form: no leading zeros, plus sign, fraction or percent-encoding, and not `-0`.',
    schema: { type: 'integer', format: 'int64' },
    example: 1,
  };
}

function listHeaders() {
  return headersOf({ 'Cache-Control': 'PrivateNoCache', ETag: 'ETag', Vary: 'Vary', Link: 'Link' });
}
