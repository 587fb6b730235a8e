import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { type Context, forbidCaching, isShortEnough, sendJson } from '../context';
import { DOCS_INITIALIZER, sendDocsPage } from '../docs-page';
import { answerNotModified } from '../conditions';
import {
  NAME,
  INTERFACE_VERSION,
  content,
  ifNoneMatch,
  json,
  noSniff,
  noStore,
  optionalField,
  requiredField,
  fieldsWithETag,
} from '../openapi-parts';
import type { Endpoint, Operation, Dependencies } from '../operation';

const ABOUT = { name: NAME, version: INTERFACE_VERSION, docs: 'docs', openapi: 'openapi.json' };

function makeAboutEndpoint({ swaggerUi }: Dependencies): Endpoint {
  return (ctx) => {
    forbidCaching(ctx);
    ctx.vary('Accept');
    const isNegotiated = swaggerUi !== undefined && isShortEnough(ctx.req.headers.accept);
    const isBrowser = isNegotiated && ctx.accepts('json', 'html') === 'html';
    if (isBrowser) ctx.redirect('docs');
    else sendJson(ctx, JSON.stringify(ABOUT));
  };
}

function swaggerUiFile(name: string, type: string): Operation['createEndpoint'] {
  return ({ swaggerUi, limitDownload }) => {
    if (swaggerUi === undefined) return undefined;
    const send = makeFileHandler(`${type}; charset=utf-8`, () => readFile(join(swaggerUi, name)));
    return async (ctx) => {
      await send(ctx);
      // Only these files may be long.
      limitDownload(ctx);
    };
  };
}

const aboutFields = {
  ...noStore,
  Vary: requiredField('The request fields that the content depends on.', '^Accept$'),
  Location: optionalField('The page, relative to this URL.', '^docs$'),
};

const fileFields = { ...fieldsWithETag('no-cache', 'Accept-Encoding'), ...noSniff };

const pageFields = {
  ...noStore,
  ...noSniff,
  'Content-Security-Policy': optionalField(
    'A page may load and connect to this service only.',
    "^default-src 'none'; ",
  ),
};

export const META_OPERATIONS: readonly Operation[] = [
  {
    method: 'get',
    path: '/',
    createEndpoint: makeAboutEndpoint,
    needsUser: false,
    failures: [],
    described: {
      operationId: 'aboutService',
      summary: 'About the service',
      description: 'Links to the documentation, relative to this URL.',
      tags: ['Service'],
      responses: {
        200: {
          description: 'Names and links.',
          headers: aboutFields,
          content: json('Service', { example: ABOUT }),
        },
        302: content(
          'The documentation, for browsers.',
          'text/html; charset=utf-8',
          'Redirecting to docs.',
          aboutFields,
        ),
      },
    },
  },
  {
    method: 'get',
    path: '/openapi.json',
    createEndpoint: ({ document }) =>
      makeFileHandler('application/json', async () => Buffer.from(JSON.stringify(document()))),
    needsUser: false,
    failures: ['preconditionFailed'],
    described: {
      operationId: 'openApi',
      summary: 'This document',
      description: 'The OpenAPI document of this service.',
      tags: ['Service'],
      parameters: [ifNoneMatch],
      responses: {
        200: content('The document.', 'application/json', { openapi: '3.1.1' }, fileFields),
        304: { description: 'Unchanged.', headers: fileFields },
      },
    },
  },
  {
    method: 'get',
    path: '/docs',
    createEndpoint: ({ swaggerUi }) => (swaggerUi === undefined ? undefined : sendDocsPage),
    needsUser: false,
    failures: [],
    described: {
      operationId: 'docs',
      summary: 'Documentation',
      description: 'This document in Swagger UI, to try in a browser.',
      tags: ['Service'],
      responses: {
        200: content('The page.', 'text/html; charset=utf-8', '<!doctype html>', pageFields),
      },
    },
  },
  partOfPage('initializer.js', ({ swaggerUi }) =>
    swaggerUi === undefined
      ? undefined
      : makeFileHandler('text/javascript; charset=utf-8', async () =>
          Buffer.from(DOCS_INITIALIZER),
        ),
  ),
  partOfPage('swagger-ui.css', swaggerUiFile('swagger-ui.css', 'text/css')),
  partOfPage('swagger-ui-bundle.js', swaggerUiFile('swagger-ui-bundle.js', 'text/javascript')),
];

function partOfPage(name: string, createEndpoint: Operation['createEndpoint']): Operation {
  return { method: 'get', path: `/docs/${name}`, createEndpoint, needsUser: false, failures: [] };
}

const compress = promisify<Buffer, Buffer>(gzip);

/**
 * Serves content that never changes. It is loaded and compressed at the first request. Clients may
 * revalidate it with its `ETag`.
 */
function makeFileHandler(
  type: string,
  load: () => Promise<Buffer>,
): (ctx: Context) => Promise<void> {
  let loading: Promise<{ identity: Buffer; gzip: Buffer; tag: string }> | undefined;
  const loadOnce = async () => {
    const identity = await load();
    const tag = createHash('sha256').update(identity).digest('base64url');
    return { identity, gzip: await compress(identity), tag };
  };
  return async (ctx) => {
    loading ??= loadOnce();
    // If loading has failed, the next request tries again.
    loading.catch(() => (loading = undefined));
    const loaded = await loading;
    const accepted =
      isShortEnough(ctx.get('Accept-Encoding')) && ctx.acceptsEncodings('gzip', 'identity');
    const encoding = accepted === 'gzip' ? 'gzip' : 'identity';
    const etag = `"${loaded.tag}-${encoding}"`;
    const isUnchanged = answerNotModified(ctx, etag);
    ctx.vary('Accept-Encoding');
    ctx.set({ ETag: etag, 'Cache-Control': 'no-cache', 'X-Content-Type-Options': 'nosniff' });
    if (isUnchanged) return;
    if (encoding === 'gzip') ctx.set('Content-Encoding', encoding);
    ctx.set('Content-Type', type);
    ctx.body = loaded[encoding];
  };
}
