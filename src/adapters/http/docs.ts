/** The description of the interface: for programs at `/openapi.json`, for people at `/docs`. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type Router from '@koa/router';
import { openApiDocument } from './openapi/document';
import { HttpProblem, PROBLEMS } from './problems';
import { mountPathOf } from './request';
import { ICON, constant, page } from './response';
import { type Context, type State, newRouter } from './routes';

const SCRIPT = 'text/javascript; charset=utf-8';
const STYLE = 'text/css; charset=utf-8';

/**
 * @param swaggerUi the folder of its files; without it, `/docs` answers 404.
 * @param hasMetrics whether `/metrics` is served.
 */
export function docsRouter(swaggerUi: string | undefined, hasMetrics: boolean): Router<State> {
  const router = newRouter();
  router.get('/openapi.json', openApi(hasMetrics));
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
  router.get('/docs', (ctx) => page(ctx, PAGE, POLICY));
  router.get(
    '/docs/initializer.js',
    constant(SCRIPT, async () => Buffer.from(INITIALIZER)),
  );
  router.get('/docs/swagger-ui-bundle.js', constant(SCRIPT, file('swagger-ui-bundle.js')));
  router.get('/docs/swagger-ui.css', constant(STYLE, file('swagger-ui.css')));
  return router;
}

/** The document contains the mount path. The latest text is cached. */
function openApi(hasMetrics: boolean): (ctx: Context) => Promise<void> {
  let mountPath: string | undefined;
  let answer: ReturnType<typeof constant>;
  return (ctx) => {
    const at = mountPathOf(ctx);
    if (at !== mountPath) {
      mountPath = at;
      answer = constant('application/json', async () =>
        Buffer.from(JSON.stringify(openApiDocument(at, hasMetrics))),
      );
    }
    return answer(ctx);
  };
}

/** React sets styles through the CSSOM, which the policy permits, so neither inline styles nor scripts are allowed. */
const POLICY = ["script-src 'self'", "style-src 'self'", "connect-src 'self'"];

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
const PAGE = `<!doctype html>
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
