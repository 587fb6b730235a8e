import { TAGS, type Operation, type Parameter, type Paths, type Response, type Schema } from './parts';
import { IF_NONE_MATCH } from './plants-paths';
import { ANYWHERE, failures, headersOf } from './responses';
import { type LiveBody, type ReadyBody, schemas } from './schemas';

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
  const headers = headersOf({ 'Cache-Control': 'NoCache', ETag: 'ETag' });
  return {
    200: { description, headers, content },
    304: { description: 'The content still has the `ETag` of `If-None-Match`.', headers },
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
