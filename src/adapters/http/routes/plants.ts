import { parsePlantId } from '../../../domain';
import { hasBody, requireJson } from '../body';
import { requireNoEntityTags } from '../conditions';
import { sendJson, userOf, whileConnected } from '../context';
import { LIST_FAILURES, LIST_PARAMETERS, makeListEndpoint, listResponses } from './list';
import { parseNewPlant } from '../new-plant';
import { common, json } from '../openapi-parts';
import type { Endpoint, Operation, Dependencies } from '../operation';
import { FERN } from '../plant-schema';
import { HttpFailure, FAILURES, REJECTION_FAILURES, failuresOf } from '../failures';

/** Parsing a longer body takes as long as several requests, so it is long work of the scheduler. */
const LONG_BODY_BYTES = 8 * 1024;

function makeCreateEndpoint({ plants, readBody, scheduler }: Dependencies): Endpoint {
  return async (ctx) => {
    requireNoEntityTags(ctx);
    requireJson(ctx);
    const body = await readBody(ctx);
    const newPlant =
      body.length < LONG_BODY_BYTES
        ? parseNewPlant(body)
        : await scheduler.do(userOf(ctx), () => parseNewPlant(body));
    const { rejection } = await plants.create(userOf(ctx), newPlant, whileConnected(ctx));
    if (rejection) {
      // With a condition, the client has asked for a 412 instead of a rejection.
      const hasCondition = ctx.req.headers['if-none-match'] !== undefined;
      throw hasCondition
        ? new HttpFailure(FAILURES.preconditionFailed)
        : REJECTION_FAILURES[rejection];
    }
    sendJson(ctx, JSON.stringify(newPlant.plant));
  };
}

function makeDeleteEndpoint({ plants, readBody }: Dependencies): Endpoint {
  return async (ctx, sentId) => {
    requireNoEntityTags(ctx);
    // `If-None-Match: *` can never hold: it asks that the plant not exist.
    if (ctx.req.headers['if-none-match'] !== undefined)
      throw new HttpFailure(FAILURES.preconditionFailed);
    // The body is read and then ignored, because a malformed request must not be executed.
    if (hasBody(ctx)) await readBody(ctx);
    const id = parsePlantId(sentId!);
    if (id === undefined) throw new HttpFailure(FAILURES.badPathId);
    const { rejection } = await plants.delete(userOf(ctx), id, whileConnected(ctx));
    if (rejection) throw REJECTION_FAILURES[rejection];
    ctx.status = 204;
  };
}

const plantId = {
  name: 'id',
  in: 'path',
  required: true,
  description:
    'From −2⁶³ to 2⁶³−1, in canonical form: ' +
    'no leading zeros, plus sign, fraction or percent-encoding, and not `-0`.',
  schema: { type: 'integer', format: 'int64' },
  example: 1,
};

export const PLANT_OPERATIONS: readonly Operation[] = [
  {
    method: 'post',
    path: '/plants',
    createEndpoint: makeCreateEndpoint,
    needsUser: true,
    failures: [
      ...failuresOf('CreatePlant'),
      'invalidBody',
      'malformedJson',
      'preconditionFailed',
      'unsupportedBody',
      'outcomeUnknown',
    ],
    described: {
      operationId: 'createPlant',
      summary: 'Create a plant',
      description:
        'The client chooses the id, and keeps it before it sends the request: no response contains it. ' +
        'After a 50301, a 500, or no response of this service the outcome is unknown: ' +
        'send the same request again. 200 then means that the plant exists, once; ' +
        '40003 (41200 with `If-None-Match: *`) means that a living plant has the id, ' +
        'and another client of the same user may have created it.',
      tags: ['Plants'],
      requestBody: {
        required: true,
        description: 'JSON in UTF-8, without a content encoding. No member may occur twice.',
        content: json('NewPlant', { example: { id: 1, ...FERN } }),
      },
      responses: {
        200: {
          description: 'The plant was created.',
          headers: common,
          content: json('Plant', { example: FERN }),
        },
      },
    },
  },
  {
    method: 'get',
    path: '/plants',
    createEndpoint: ({ plants, pages }) => makeListEndpoint(plants, pages),
    needsUser: true,
    failures: LIST_FAILURES,
    described: {
      operationId: 'listPlants',
      summary: 'List plants',
      description:
        'All plants that the user has access to, in order of creation. Unknown parameters are ignored. ' +
        'If `limit` truncates the list, `Link` has the URL of the next page. ' +
        'A client that follows the links gets every plant that lives throughout exactly once.',
      tags: ['Plants'],
      parameters: LIST_PARAMETERS,
      responses: listResponses(
        'The plants of the user.',
        json('Plants', { example: [FERN, { name: 'Monstera' }] }),
      ),
    },
  },
  {
    method: 'delete',
    path: '/plants/{id}',
    createEndpoint: makeDeleteEndpoint,
    needsUser: true,
    failures: [...failuresOf('DeletePlant'), 'badPathId', 'preconditionFailed', 'outcomeUnknown'],
    described: {
      operationId: 'deletePlant',
      summary: 'Delete a plant',
      description:
        'Its id can then be used again. ' +
        'After a 50301, a 500, or no response of this service the outcome is unknown: ' +
        'send the same request again. 204 and 40401 then mean that no plant has the id. ' +
        'If another client of the same user created the id again in between, ' +
        'the repetition deletes that plant.',
      tags: ['Plants'],
      parameters: [plantId],
      responses: { 204: { description: 'The plant was deleted.', headers: common } },
    },
  },
];
