import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { type Context, forbidCaching, isParsable, sendJson } from '../context';
import { DOCS_INITIALIZER, sendDocsPage } from '../docs-page';
import { evaluateConditions } from '../conditions';
import { downloadLimit } from '../downloads';
import type { Routes } from '../middleware/route';
import { openApi } from '../openapi';
import type { AppOptions } from '../options';

export function aboutRoutes({ metrics, swaggerUi }: AppOptions): Routes<'/' | '/openapi.json'> {
  const served = Object.entries(openApi.paths).filter(([path]) => metrics || path !== '/metrics');
  const document = JSON.stringify({ ...openApi, paths: Object.fromEntries(served) });
  return {
    '/': {
      get(ctx) {
        forbidCaching(ctx);
        ctx.vary('Accept');
        const { title: name, version } = openApi.info;
        const isNegotiated = swaggerUi !== undefined && isParsable(ctx.req.headers.accept);
        const isBrowser = isNegotiated && ctx.accepts('json', 'html') === 'html';
        if (isBrowser) ctx.redirect('docs');
        else
          sendJson(ctx, JSON.stringify({ name, version, docs: 'docs', openapi: 'openapi.json' }));
      },
    },
    '/openapi.json': { get: file('application/json', async () => Buffer.from(document)) },
  };
}

export function docsRoutes(readTimeoutMs: number, swaggerUi?: string) {
  if (swaggerUi === undefined) return {};
  // Only the files of Swagger UI are long.
  const limit = downloadLimit(readTimeoutMs);
  const published = (name: string, type: string) => {
    const send = file(`${type}; charset=utf-8`, () => readFile(join(swaggerUi, name)));
    const get = async (ctx: Context) => {
      await send(ctx);
      limit(ctx);
    };
    return { get };
  };
  return {
    '/docs': { get: sendDocsPage },
    '/docs/initializer.js': {
      get: file('text/javascript; charset=utf-8', async () => Buffer.from(DOCS_INITIALIZER)),
    },
    '/docs/swagger-ui.css': published('swagger-ui.css', 'text/css'),
    '/docs/swagger-ui-bundle.js': published('swagger-ui-bundle.js', 'text/javascript'),
  };
}

const compress = promisify<Buffer, Buffer>(gzip);

/**
 * Serves content that never changes. It is loaded and compressed at the first request. Clients may
 * revalidate it with its `ETag`.
 */
function file(type: string, load: () => Promise<Buffer>): (ctx: Context) => Promise<void> {
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
    const content = await loading;
    const accepted =
      isParsable(ctx.get('Accept-Encoding')) && ctx.acceptsEncodings('gzip', 'identity');
    const encoding = accepted === 'gzip' ? 'gzip' : 'identity';
    const etag = `"${content.tag}-${encoding}"`;
    const isKnown = evaluateConditions(ctx, etag);
    ctx.vary('Accept-Encoding');
    ctx.set({ ETag: etag, 'Cache-Control': 'no-cache', 'X-Content-Type-Options': 'nosniff' });
    if (isKnown) return;
    if (encoding === 'gzip') ctx.set('Content-Encoding', encoding);
    ctx.set('Content-Type', type);
    ctx.body = content[encoding];
  };
}
