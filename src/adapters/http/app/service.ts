/** The routes without a token: about, documentation, health and metrics. */
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type Router from '@koa/router';
import { clientOf } from '../server/connection';
import { INTERFACE_VERSION, openApiDocument } from '../openapi/document';
import type { LiveBody, ReadyBody, ServiceBody } from '../openapi/schemas';
import type { MetricsSource, Readiness } from '../options';
import { HttpProblem, PROBLEMS } from './problems';
import { mountPathOf } from './request';
import { Allowance, ICON, constant, json, page, vary } from './response';
import { type Context, type State, newRouter } from './koa';

export function aboutRouter(): Router<State> {
  const router = newRouter();
  // A page for browsers, JSON for all other clients.
  router.get('/', (ctx) => {
    const at = mountPathOf(ctx);
    vary(ctx, 'Accept');
    if (ctx.accepts('json', 'html') === 'html') page(ctx, aboutPage(at), ABOUT_POLICY);
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
    const works = clientOf(ctx.res)?.draining === true ? DRAINING : await ready();
    const { reads, writes, reasons = [] } = works;
    if (!reads) {
      const message = `the service takes no requests now: ${reasons.join(', ')}`;
      throw new HttpProblem(PROBLEMS.storeUnavailable, message, {}, reasons[0]);
    }
    const body: ReadyBody = { status: 'ready', reads, writes, ...(!writes && { reasons }) };
    json(ctx, JSON.stringify(body));
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

/** The readiness of a service that shuts down. */
export const DRAINING: Readiness = { reads: false, writes: false, reasons: ['draining'] };

function aboutAt(mountPath: string): ServiceBody {
  return {
    name: 'plant-store',
    version: INTERFACE_VERSION,
    docs: `${mountPath}/docs`,
    openapi: `${mountPath}/openapi.json`,
  };
}

const ABOUT_STYLE = `
:root { color-scheme: light dark; font: 1.1rem/1.6 system-ui, sans-serif; }
body { max-width: 38rem; margin: 12vh auto; padding: 0 1.5rem; }
h1 { margin: 0; }
code { font-size: 0.95em; }
a { color: light-dark(#1a6b3c, #7fd6a3); }
ul { padding-left: 1.2rem; }
`;
/** The only style, allowed by its hash. */
const ABOUT_POLICY = [`style-src 'sha256-${createHash('sha256').update(ABOUT_STYLE).digest('base64')}'`];

function aboutPage(mountPath: string): string {
  const at = mountPath.replace(/[^\w./~-]/g, (character) => `&#${character.codePointAt(0)};`);
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>plant-store</title>
<link rel="icon" href="${ICON}">
<style>${ABOUT_STYLE}</style>
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

/**
 * @param swaggerUi the folder of its files; without it, `/docs` answers 404.
 * @param hasMetrics whether `/metrics` is served.
 */
export function docsRouter(swaggerUi: string | undefined, hasMetrics: boolean): Router<State> {
  const router = newRouter();
  const allowance = new Allowance();
  router.get('/openapi.json', openApi(hasMetrics, allowance));
  if (swaggerUi === undefined) {
    router.get('/docs', () => {
      throw new HttpProblem(
        PROBLEMS.noSuchPath,
        'this service has no Swagger UI; /openapi.json describes the interface',
      );
    });
    return router;
  }

  const file = (name: string) => () => readFile(join(swaggerUi, name));
  router.get('/docs', (ctx) => page(ctx, DOCS_PAGE, DOCS_POLICY));
  router.get(
    '/docs/initializer.js',
    constant(SCRIPT_TYPE, async () => Buffer.from(INITIALIZER), allowance),
  );
  router.get('/docs/swagger-ui-bundle.js', constant(SCRIPT_TYPE, file('swagger-ui-bundle.js'), allowance));
  router.get('/docs/swagger-ui.css', constant(STYLE_TYPE, file('swagger-ui.css'), allowance));
  return router;
}

/** The document contains the mount path. The latest text is cached. */
function openApi(hasMetrics: boolean, allowance: Allowance): (ctx: Context) => Promise<void> {
  let mountPath: string | undefined;
  let answer: ReturnType<typeof constant>;
  return (ctx) => {
    const at = mountPathOf(ctx);
    if (at !== mountPath) {
      mountPath = at;
      const load = async () => Buffer.from(JSON.stringify(openApiDocument(at, hasMetrics)));
      answer = constant('application/json', load, allowance);
    }
    return answer(ctx);
  };
}

const SCRIPT_TYPE = 'text/javascript; charset=utf-8';
const STYLE_TYPE = 'text/css; charset=utf-8';

/** React sets styles through the CSSOM, which the policy permits, so neither inline styles nor scripts are allowed. */
const DOCS_POLICY = ["script-src 'self'", "style-src 'self'", "connect-src 'self'"];

/** A separate file, because the policy allows no inline script. */
const INITIALIZER = `'use strict';

// Swagger UI has a dark style, which its page must choose.
const dark = matchMedia('(prefers-color-scheme: dark)');
const followScheme = () => document.documentElement.classList.toggle('dark-mode', dark.matches);
dark.addEventListener('change', followScheme);
followScheme();

// Swagger UI forgets these texts in its dark style.
const style = new CSSStyleSheet();
style.replaceSync('.dark-mode .swagger-ui :is(td.header-col, .opblock-description-wrapper) { color: #e4e6e6; }');
document.adoptedStyleSheets.push(style);

SwaggerUIBundle({
  url: new URL('../openapi.json', document.currentScript.src).href,
  dom_id: '#docs',
  deepLinking: true,
  tryItOutEnabled: true,
  displayRequestDuration: true,
  // No badge of an external validator.
  validatorUrl: null,
});
`;

/** Its links are relative, so that they work under any mount path. */
const DOCS_PAGE = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>plant-store: the HTTP interface</title>
<link rel="icon" href="${ICON}">
<link rel="stylesheet" href="docs/swagger-ui.css">
<script defer src="docs/swagger-ui-bundle.js"></script>
<script defer src="docs/initializer.js"></script>
</head>
<body>
<main id="docs"></main>
<noscript>This page needs JavaScript. The same is at <a href="openapi.json">/openapi.json</a>.</noscript>
</body>
</html>
`;
