import { TAGS, type Operation, type Parameter, type Paths, type Response, type Schema } from './parts';
import { ANYWHERE, UNDER_PLANTS, failures, headersOf } from './responses';
import { type LiveBody, type ReadyBody, schemas } from './schemas';

const IF_NONE_MATCH: Parameter = {
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

/** The operations without a token: documentation, health and metrics. */
export function servicePaths(hasMetrics: boolean): Paths {
  const page = (operation: Page) => ({
    get: { tags: [TAGS.service.name], security: [], ...operation } as const,
  });
  return {
    '/': page(aboutService()),
    '/openapi.json': page(openApi()),
    '/docs': page(docs()),
    '/docs/{file}': { parameters: [FILE], ...page(docsFile()) },
    '/health/live': page(live()),
    '/health/ready': page(ready()),
    ...(hasMetrics && { '/metrics': page(metrics()) }),
  };
}

type Page = Omit<Operation, 'tags' | 'security'>;

const aboutService = (): Page => ({
  operationId: 'aboutService',
  summary: 'About the service',
  description: 'A page for browsers (clients that prefer `text/html`), JSON for all others.',
  responses: {
    200: {
      description: 'Name, version of the interface, and the URLs of its documentation.',
      headers: headersOf({ Vary: 'VaryAccept', 'Content-Security-Policy': 'Content-Security-Policy' }),
      content: {
        'application/json': {
          schema: { $ref: '#/components/schemas/Service' },
          examples: {
            service: {
              summary: 'This service',
              value: { name: 'plant-store', version: '1.0.0', docs: '/docs', openapi: '/openapi.json' },
            },
          },
        },
        'text/html; charset=utf-8': { schema: TEXT },
      },
    },
    ...failures(...ANYWHERE),
  },
});

const openApi = (): Page => ({
  operationId: 'openApi',
  summary: 'This document',
  description: 'The OpenAPI document of the interface.',
  parameters: [IF_NONE_MATCH],
  responses: {
    ...revalidated('The OpenAPI document.', { 'application/json': { schema: { type: 'object' } } }),
    ...failures(...ANYWHERE),
  },
});

const docs = (): Page => ({
  operationId: 'docs',
  summary: 'Documentation',
  description: 'A page with Swagger UI, to read about the interface and to try it.',
  responses: {
    200: {
      description: 'A page with Swagger UI.',
      headers: headersOf({ 'Content-Security-Policy': 'Content-Security-Policy' }),
      content: { 'text/html; charset=utf-8': { schema: TEXT } },
    },
    ...failures(...ANYWHERE, 'noSuchPath'),
  },
});

const docsFile = (): Page => ({
  operationId: 'docsFile',
  summary: 'File of the documentation',
  description: 'A script or a style sheet of the page at `/docs`.',
  parameters: [IF_NONE_MATCH],
  responses: {
    ...revalidated('The file.', {
      'text/javascript; charset=utf-8': { schema: TEXT },
      'text/css; charset=utf-8': { schema: TEXT },
    }),
    ...failures(...ANYWHERE, 'noSuchPath'),
  },
});

const live = (): Page => ({
  operationId: 'live',
  summary: 'Liveness',
  description: '200 while the process serves requests.',
  responses: {
    200: healthy('Live', { status: 'live' } satisfies LiveBody),
    ...failures(...ANYWHERE),
  },
});

const ready = (): Page => ({
  operationId: 'ready',
  summary: 'Readiness',
  description:
    '200 while lists succeed. `writes` is false while the event store refuses writes. Other instances cannot write ' +
    'then either, so a proxy keeps using this one.',
  responses: {
    200: healthy('Ready', { status: 'ready', reads: true, writes: true } satisfies ReadyBody),
    ...failures(...ANYWHERE, 'storeUnavailable'),
  },
});

const metrics = (): Page => ({
  operationId: 'metrics',
  summary: 'Metrics',
  description:
    'Metrics in the text format of Prometheus. They contain no user, token or id. A proxy should block this path.',
  responses: {
    200: {
      description: 'Metrics of the service and its process.',
      headers: headersOf(),
      content: { 'text/plain; version=0.0.4; charset=utf-8': { schema: TEXT } },
    },
    ...failures(...ANYWHERE),
  },
});

const TEXT: Schema = { type: 'string' };

const FILE: Parameter = {
  name: 'file',
  in: 'path',
  required: true,
  description: 'The name of the file.',
  schema: { type: 'string', examples: ['swagger-ui.css'] },
};

/** The responses with content that may be stored and revalidated with `If-None-Match`. */
function revalidated(description: string, content: NonNullable<Response['content']>) {
  const fields = { 'Cache-Control': 'NoCache', ETag: 'ETag', Vary: 'VaryAcceptEncoding' } as const;
  return {
    200: { description, headers: headersOf({ ...fields, 'Content-Encoding': 'Content-Encoding' }), content },
    304: {
      description: 'The content still has the `ETag` of `If-None-Match`.',
      headers: headersOf(fields),
    },
    ...failures('storeUnavailable'),
  };
}

function healthy(schema: 'Live' | 'Ready', value: LiveBody | ReadyBody): Response {
  return {
    description: schemas[schema].description,
    headers: headersOf(),
    content: {
      'application/json': {
        schema: { $ref: `#/components/schemas/${schema}` },
        examples: { [value.status]: { summary: schema, value } },
      },
    },
  };
}
