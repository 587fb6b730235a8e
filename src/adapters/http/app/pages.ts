/** The pages for browsers: about the service, and its documentation. */
import { createHash } from 'node:crypto';
import { INTERFACE_VERSION } from '../openapi/service-operations';
import type { Context } from './koa';
import { mountPathOf } from './request';
import { ICON, page } from './response';

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

/** React sets styles through the CSSOM, which the policy permits, so neither inline styles nor scripts are allowed. */
const DOCS_POLICY = ["script-src 'self'", "style-src 'self'", "connect-src 'self'"];

/** A separate file, because the policy allows no inline script. */
export const DOCS_INITIALIZER = `'use strict';

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

export function docsPage(ctx: Context): void {
  page(ctx, DOCS_PAGE, DOCS_POLICY);
}

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
