import { TAGS, withHeadAndOptions } from './operations';
import type { Operation, Parameter, Paths, Response, Schema } from './parts';
import { IF_NONE_MATCH } from './plants-paths';
import { ANYWHERE, failures, headersOf } from './responses';

/** What the service says of itself. None of it needs a token. */
export function servicePaths(): Paths {
  const page = (operation: Omit<Operation, 'tags' | 'security'>) =>
    withHeadAndOptions({ get: { tags: [TAGS.service], security: [], ...operation } }, failures(...ANYWHERE));
  return {
    '/': page(aboutService()),
    '/openapi.json': page(openApi()),
    '/docs': page(docs()),
    '/docs/{file}': { parameters: [FILE], ...page(docsFile()) },
    '/health/live': page(live()),
    '/health/ready': page(ready()),
    '/metrics': page(metrics()),
  };
}

type Page = Omit<Operation, 'tags' | 'security'>;

const aboutService = (): Page => ({
  operationId: 'aboutService',
  summary: 'What this is',
  description: 'A page for browsers (clients that prefer `text/html`), JSON for all others.',
  responses: {
    200: {
      description: 'Name, version of the interface, and where to read on.',
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
  parameters: [IF_NONE_MATCH],
  responses: {
    ...revalidated('The OpenAPI document.', { 'application/json': { schema: { type: 'object' } } }),
    ...failures(...ANYWHERE),
  },
});

const docs = (): Page => ({
  operationId: 'docs',
  summary: 'The interface, to read and to try in a browser',
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
  summary: 'What that page is made of',
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
  summary: 'Whether the process serves at all',
  responses: { 200: healthy('live'), ...failures(...ANYWHERE) },
});

const ready = (): Page => ({
  operationId: 'ready',
  summary: 'Whether the service should be sent requests',
  description:
    '200 while lists are answered. `writes` is false while the event store refuses writes, which another instance ' +
    'cannot do either: leave this one in use.',
  responses: {
    200: healthy('ready', { reads: true, writes: true }),
    ...failures(...ANYWHERE, 'storeUnavailable'),
  },
});

const metrics = (): Page => ({
  operationId: 'metrics',
  summary: 'Figures for Prometheus',
  description: 'No user, token or id is in them. A proxy keeps this from the public.',
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

/** What may be kept, and asked for again with `If-None-Match`. */
function revalidated(description: string, content: NonNullable<Response['content']>) {
  const headers = headersOf({ 'Cache-Control': 'NoCache', ETag: 'ETag' });
  return {
    200: { description, headers, content },
    304: { description: 'It is still the one that `If-None-Match` names.', headers },
  };
}

function healthy(status: string, works: Readonly<Record<string, boolean>> = {}): Response {
  const members = Object.fromEntries(Object.keys(works).map((name) => [name, { type: 'boolean' }]));
  return {
    description: 'Yes.',
    headers: headersOf(),
    content: {
      'application/json': {
        schema: {
          $ref: '#/components/schemas/Health',
          properties: { status: { const: status }, ...members },
          required: Object.keys({ status, ...works }),
        },
        examples: { [status]: { summary: 'Yes', value: { status, ...works } } },
      },
    },
  };
}
