/** The routes without a token: about, health and metrics. */
import { createHash } from 'node:crypto';
import type Router from '@koa/router';
import { clientOf } from './connection';
import { INTERFACE_VERSION } from './openapi/document';
import type { LiveBody, ReadyBody, ServiceBody } from './openapi/schemas';
import type { MetricsSource, Readiness } from './options';
import { HttpProblem, PROBLEMS } from './problems';
import { mountPathOf } from './request';
import { ICON, json, page, vary } from './response';
import { type State, newRouter } from './routes';

export function aboutRouter(): Router<State> {
  const router = newRouter();
  // A page for browsers, JSON for all other clients.
  router.get('/', (ctx) => {
    const at = mountPathOf(ctx);
    vary(ctx, 'Accept');
    if (ctx.accepts('json', 'html') === 'html') page(ctx, pageAt(at), PAGE_POLICY);
    else json(ctx, JSON.stringify(aboutAt(at)));
  });
  return router;
}

export function healthRouter(ready: () => Promise<Readiness>): Router<State> {
  const router = newRouter();
  // A process that answers need not be restarted.
  router.get('/health/live', (ctx) => json(ctx, JSON.stringify({ status: 'live' } satisfies LiveBody)));

  // Ready if reads work. The body says whether writes work: no other instance can write what the store refuses.
  router.get('/health/ready', async (ctx) => {
    const { reads, writes } = clientOf(ctx.res)?.draining === true ? NOTHING_WORKS : await ready();
    if (!reads) throw new HttpProblem(PROBLEMS.storeUnavailable, 'the service takes no requests now');
    json(ctx, JSON.stringify({ status: 'ready', reads, writes } satisfies ReadyBody));
  });
  return router;
}

export function metricsRouter(metrics: MetricsSource): Router<State> {
  const router = newRouter();
  router.get('/metrics', async (ctx) => {
    const text = await metrics.text();
    ctx.set('Content-Type', metrics.contentType);
    ctx.body = text;
  });
  return router;
}

const NOTHING_WORKS: Readiness = { reads: false, writes: false };

function aboutAt(mountPath: string): ServiceBody {
  return {
    name: 'plant-store',
    version: INTERFACE_VERSION,
    docs: `${mountPath}/docs`,
    openapi: `${mountPath}/openapi.json`,
  };
}

const STYLE = `
:root { color-scheme: light dark; font: 1.1rem/1.6 system-ui, sans-serif; }
body { max-width: 38rem; margin: 12vh auto; padding: 0 1.5rem; }
h1 { margin: 0; }
code { font-size: 0.95em; }
a { color: light-dark(#1a6b3c, #7fd6a3); }
ul { padding-left: 1.2rem; }
`;
/** The only style, allowed by its hash. */
const PAGE_POLICY = [`style-src 'sha256-${createHash('sha256').update(STYLE).digest('base64')}'`];

function pageAt(mountPath: string): string {
  const at = mountPath.replace(/[^\w./~-]/g, (character) => `&#${character.codePointAt(0)};`);
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>plant-store</title>
<link rel="icon" href="${ICON}">
<style>${STYLE}</style>
</head>
<body>
<main>
<h1>plant-store</h1>
<p>This is a service that keeps plants. Programs create, list and delete them over HTTP, with JSON bodies and a bearer token.</p>
<ul>
<li><a href="${at}/docs">Read and try the interface</a>, version ${INTERFACE_VERSION}</li>
<li><a href="${at}/openapi.json">The OpenAPI document</a>, for tools</li>
<li><a href="${at}/health/ready">Is it ready?</a></li>
</ul>
</main>
</body>
</html>
`;
}
