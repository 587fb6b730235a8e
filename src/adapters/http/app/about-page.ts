/** The page at `/` for browsers. */
import { createHash } from 'node:crypto';
import { INTERFACE_VERSION } from '../openapi/service-operations';
import type { Context } from './koa';
import { mountPathOf } from './request';
import { ICON, page } from './response';

const ABOUT_STYLE = `
:root { color-scheme: light dark; background: light-dark(#fff, #121212); font: 1.1rem/1.6 system-ui, sans-serif; }
body { max-width: 38rem; margin: 12vh auto; padding: 0 1.5rem; }
h1 { margin: 0; }
code { font-size: 0.95em; }
a { color: light-dark(#1a6b3c, #7fd6a3); }
ul { padding-left: 1.2rem; }
`;
/** The only style, allowed by its hash. */
const ABOUT_POLICY = [`style-src 'sha256-${createHash('sha256').update(ABOUT_STYLE).digest('base64')}'`];

export function aboutPage(ctx: Context): void {
  const at = mountPathOf(ctx).replace(/[^\w./~-]/g, (character) => `&#${character.codePointAt(0)};`);
  const html = `<!doctype html>
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
  page(ctx, html, ABOUT_POLICY);
}
