import { createHash } from 'node:crypto';
import type { Middleware } from 'koa';
import { json } from './answer';
import type { ServiceBody } from './openapi/bodies';
import { INTERFACE_VERSION } from './openapi/document';
import { ICON, page } from './page';
import { type RequestState, routes } from './routes';

const ABOUT: ServiceBody = {
  name: 'plant-store',
  version: INTERFACE_VERSION,
  docs: '/docs',
  openapi: '/openapi.json',
};

const STYLE = `
:root { color-scheme: light dark; font: 1.1rem/1.6 system-ui, sans-serif; }
body { max-width: 38rem; margin: 12vh auto; padding: 0 1.5rem; }
h1 { margin: 0; }
code { font-size: 0.95em; }
a { color: light-dark(#1a6b3c, #7fd6a3); }
ul { padding-left: 1.2rem; }
`;

const PAGE = `<!doctype html>
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
<li><a href="/docs">Read and try the interface</a>, version ${INTERFACE_VERSION}</li>
<li><a href="/openapi.json">The OpenAPI document</a>, for tools</li>
<li><a href="/health/ready">Is it ready?</a></li>
</ul>
</main>
</body>
</html>
`;

/** What this is and where to read on: a page for browsers, JSON for everybody else. */
export function rootRoute(): Middleware<RequestState> {
  // The one style there is, named by its hash.
  const policy = [`style-src 'sha256-${createHash('sha256').update(STYLE).digest('base64')}'`];
  const vary = { Vary: 'Accept' };

  return routes({
    'GET /': (ctx) => {
      if (ctx.accepts('json', 'html') === 'html') return page(PAGE, policy, vary);
      return json(200, JSON.stringify(ABOUT), vary);
    },
  });
}
