/** The operations without a token: documentation, health and metrics. `app/service` has the handlers. */
import { IF_NONE_MATCH, type Response, type Responses, type Schema, jsonContent, tagged } from './parts';
import { headersOf } from './responses';
import { type LiveBody, type ReadyBody, type ServiceBody, schemas } from './schemas';

/** The version of the interface. CHANGELOG.md lists its changes. */
export const INTERFACE_VERSION = '1.0.0';

const TEXT: Schema = { type: 'string' };

const SERVICE = {
  name: 'Service',
  description: 'Documentation, health and metrics. Needs no token.',
};

export const SERVICE_OPERATIONS = tagged(SERVICE, {
  aboutService: {
    method: 'GET',
    path: '/',
    summary: 'About the service',
    description: 'A page for browsers (clients that prefer `text/html`), JSON for all others.',
    responses: {
      200: {
        description: 'Name, version of the interface, and the URLs of its documentation.',
        headers: headersOf({ Vary: 'VaryAccept', 'Content-Security-Policy': 'Content-Security-Policy' }),
        content: {
          ...jsonContent('Service', { service: { summary: 'This service', value: serviceAt('') } }),
          'text/html; charset=utf-8': { schema: TEXT },
        },
      },
    },
  },

  openApi: {
    method: 'GET',
    path: '/openapi.json',
    summary: 'This document',
    description: 'The OpenAPI document of the interface.',
    parameters: [IF_NONE_MATCH],
    responses: revalidated('The OpenAPI document.', { 'application/json': { schema: { type: 'object' } } }),
    failures: ['unavailable'],
  },

  docs: {
    method: 'GET',
    path: '/docs',
    summary: 'Documentation',
    description: 'A page with Swagger UI, to read about the interface and to try it.',
    responses: {
      200: {
        description: 'A page with Swagger UI.',
        headers: headersOf({ 'Content-Security-Policy': 'Content-Security-Policy' }),
        content: { 'text/html; charset=utf-8': { schema: TEXT } },
      },
    },
    failures: ['noSuchPath'],
  },

  docsFile: {
    method: 'GET',
    path: '/docs/{file}',
    summary: 'File of the documentation',
    description: 'A script or a style sheet of the page at `/docs`.',
    parameters: [
      {
        name: 'file',
        in: 'path',
        required: true,
        description: 'The name of the file.',
        schema: { type: 'string' },
        example: 'swagger-ui.css',
      },
      IF_NONE_MATCH,
    ],
    responses: revalidated('The file.', {
      'text/javascript; charset=utf-8': { schema: TEXT },
      'text/css; charset=utf-8': { schema: TEXT },
    }),
    failures: ['noSuchPath', 'unavailable'],
  },

  live: {
    method: 'GET',
    path: '/health/live',
    summary: 'Liveness',
    description: '200 while the process serves requests.',
    responses: { 200: healthy('Live', { status: 'live' } satisfies LiveBody) },
  },

  ready: {
    method: 'GET',
    path: '/health/ready',
    summary: 'Readiness',
    description:
      '200 while lists succeed. `writes` is false while the event store refuses writes. Other instances cannot write ' +
      'then either, so a proxy keeps using this one.',
    responses: { 200: healthy('Ready', { status: 'ready', reads: true, writes: true } satisfies ReadyBody) },
    failures: ['unavailable'],
  },

  metrics: {
    method: 'GET',
    path: '/metrics',
    summary: 'Metrics',
    description:
      'Metrics in the text format of Prometheus. They contain no user, token or id. A proxy should block this path.',
    responses: {
      200: {
        description: 'Metrics of the service and its process.',
        headers: headersOf(),
        content: { 'text/plain; version=0.0.4; charset=utf-8': { schema: TEXT } },
      },
    },
  },
});

export type ServiceOperationId = keyof typeof SERVICE_OPERATIONS;

/** The body of `/`. */
export function serviceAt(mountPath: string): ServiceBody {
  return {
    name: 'plant-store',
    version: INTERFACE_VERSION,
    docs: `${mountPath}/docs`,
    openapi: `${mountPath}/openapi.json`,
  };
}

/** The responses with content that may be stored and revalidated with `If-None-Match`. */
function revalidated(description: string, content: NonNullable<Response['content']>): Responses {
  const fields = { 'Cache-Control': 'NoCache', ETag: 'ETag', Vary: 'VaryAcceptEncoding' } as const;
  return {
    200: { description, headers: headersOf({ ...fields, 'Content-Encoding': 'Content-Encoding' }), content },
    304: {
      description: 'The content still has the `ETag` of `If-None-Match`.',
      headers: headersOf(fields),
    },
  };
}

function healthy(schema: 'Live' | 'Ready', value: LiveBody | ReadyBody): Response {
  return {
    description: schemas[schema].description,
    headers: headersOf(),
    content: jsonContent(schema, { [value.status]: { summary: schema, value } }),
  };
}
