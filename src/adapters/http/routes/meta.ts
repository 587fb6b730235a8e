import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type Router from '@koa/router';
import { type Handler, type State, exactRouter, notCached, sendJson } from '../context';
import { DOCS_INITIALIZER, docsPage } from '../docs-page';
import { isNotModified } from '../conditions';
import { limitDownloads } from '../middleware/downloads';
import { openApi } from '../openapi';
import type { AppOptions } from '../options';

/** About the service: names and links, the OpenAPI document, and the page that shows it. */
export function metaRoutes({ metrics, swaggerUi }: AppOptions, readTimeoutMs: number): Router<State> {
  const router = exactRouter().use(notCached);

  router.get('/', (ctx) => {
    ctx.vary('Accept');
    const { title: name, version } = openApi.info;
    const isBrowser = swaggerUi !== undefined && ctx.accepts('json', 'html') === 'html';
    if (isBrowser) ctx.redirect('docs');
    else sendJson(ctx, JSON.stringify({ name, version, docs: 'docs', openapi: 'openapi.json' }));
  });

  const served = Object.entries(openApi.paths).filter(([path]) => metrics || path !== '/metrics');
  const document = JSON.stringify({ ...openApi, paths: Object.fromEntries(served) });
  router.get(
    '/openapi.json',
    file('application/json', async () => Buffer.from(document)),
  );

  if (swaggerUi === undefined) return router;
  // Only these are long.
  router.use('/docs', limitDownloads(readTimeoutMs));
  const script = 'text/javascript; charset=utf-8';
  const published = (name: string) => () => readFile(join(swaggerUi, name));
  router.get('/docs', docsPage);
  router.get(
    '/docs/initializer.js',
    file(script, async () => Buffer.from(DOCS_INITIALIZER)),
  );
  router.get('/docs/swagger-ui.css', file('text/css; charset=utf-8', published('swagger-ui.css')));
  router.get('/docs/swagger-ui-bundle.js', file(script, published('swagger-ui-bundle.js')));
  return router;
}

const compress = promisify<Buffer, Buffer>(gzip);

/** Content that does not change: loaded and compressed at its first request. Clients may revalidate it with its `ETag`. */
function file(type: string, load: () => Promise<Buffer>): Handler {
  let loading: Promise<{ identity: Buffer; gzip: Buffer; tag: string }> | undefined;
  const loadOnce = async () => {
    const identity = await load();
    const tag = createHash('sha256').update(identity).digest('base64url');
    return { identity, gzip: await compress(identity), tag };
  };
  return async (ctx) => {
    loading ??= loadOnce();
    // The next request tries again.
    loading.catch(() => (loading = undefined));
    const content = await loading;
    const encoding = ctx.acceptsEncodings('gzip', 'identity') === 'gzip' ? 'gzip' : 'identity';
    const etag = `"${content.tag}-${encoding}"`;
    const isKnown = isNotModified(ctx, etag);
    ctx.vary('Accept-Encoding');
    ctx.set({ ETag: etag, 'Cache-Control': 'no-cache', 'X-Content-Type-Options': 'nosniff' });
    if (isKnown) return;
    if (encoding === 'gzip') ctx.set('Content-Encoding', encoding);
    ctx.set('Content-Type', type);
    ctx.body = content[encoding];
  };
}
