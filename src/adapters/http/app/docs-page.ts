/** The page at `/docs`: Swagger UI, with what it lacks for readers of screens, for dark schemes and for reloads. */
import type { Context } from './koa';
import { ICON, page } from './response';

/** React sets styles through the CSSOM, which the policy permits, so neither inline styles nor scripts are allowed. */
const POLICY = ["script-src 'self'", "style-src 'self'", "connect-src 'self'"];

/** Contrasts of at least 4.5, and what Swagger UI forgets in its dark style. */
const STYLE = `
.keep { max-width: 1460px; margin: 0 auto; padding: 20px 20px 0; font-family: sans-serif; }
.swagger-ui .microlight span[style*="211, 99, 99"] { color: #ff9d9d !important; }
.dark-mode .swagger-ui :is(td.header-col, .opblock-description-wrapper), .dark-mode .keep { color: #e4e6e6; }
:root.dark-mode .swagger-ui .opblock .opblock-section-header .try-out__btn.cancel { color: #ff8c8c; }
:root:not(.dark-mode) .swagger-ui {
  .info .title small { background: #5a6172; }
  .info .title small.version-stamp { background: #4a6b00; }
  .info .url, .info a, .link { color: #1c5fa8; }
  .btn.authorize { color: #14703f; border-color: #14703f; }
  .opblock-post .opblock-summary-method { background: #14703f; }
  .opblock-get .opblock-summary-method, .btn.execute { background: #1c5fa8; border-color: #1c5fa8; }
  .opblock-delete .opblock-summary-method { background: #b3261e; }
  .btn.cancel { color: #b3261e; border-color: #b3261e; }
  .parameter__in, .json-schema-2020-12-expand-deep-button { color: #555; }
  .renderedMarkdown code { color: #6d00c9; }
}
`;

/** A separate file, because the policy allows no inline script. */
export const DOCS_INITIALIZER: string = `'use strict';

const dark = matchMedia('(prefers-color-scheme: dark)');
const followScheme = () => document.documentElement.classList.toggle('dark-mode', dark.matches);
dark.addEventListener('change', followScheme);
followScheme();

const style = new CSSStyleSheet();
style.replaceSync(${JSON.stringify(STYLE)});
document.adoptedStyleSheets.push(style);

// The names of what Swagger UI leaves without one, by selector.
const NAMES = {
  '#servers': 'Server',
  '.examples-select-element': 'Example',
  'select.content-type, .content-type select': 'Media type',
  textarea: 'Request body',
  '.close-modal': 'Close',
};
const PARTS = {
  '.information-container': 'About',
  '.schemes-server-container': 'Server and token',
  '.modal-ux': 'Authorization',
};
const LEVELS = { H3: 2, H4: 3, H5: 4 };

const docs = document.getElementById('docs');
function mend() {
  for (const [selector, name] of Object.entries(NAMES))
    for (const element of docs.querySelectorAll(selector)) element.ariaLabel ??= name;
  // Its first heading is of level 1, and the next of level 3.
  for (const heading of docs.querySelectorAll('h3, h4, h5')) heading.ariaLevel = LEVELS[heading.tagName];
  for (const [selector, name] of Object.entries(PARTS))
    for (const part of docs.querySelectorAll(selector)) [part.role, part.ariaLabel] = ['region', name];
  // Regions without a name.
  for (const table of docs.querySelectorAll('table[role=region]')) table.role = null;
  // A link inside of a button, which does the same.
  for (const link of docs.querySelectorAll('button a[href]')) link.removeAttribute('href');
  // Another name than the text of the button.
  for (const button of docs.querySelectorAll('.auth-btn-wrapper [aria-label]')) button.removeAttribute('aria-label');
}
new MutationObserver(mend).observe(docs, { childList: true, subtree: true });

// Swagger UI keeps the token under this key.
const KEPT = 'authorized';
const keep = document.getElementById('keep');
keep.checked = localStorage.getItem(KEPT) !== null;
keep.addEventListener('change', () => {
  if (keep.checked) localStorage.setItem(KEPT, JSON.stringify(ui.authSelectors.authorized()));
  else localStorage.removeItem(KEPT);
  location.reload();
});

const ui = SwaggerUIBundle({
  url: new URL('../openapi.json', document.currentScript.src).href,
  dom_id: '#docs',
  deepLinking: true,
  tryItOutEnabled: true,
  displayRequestDuration: true,
  persistAuthorization: keep.checked,
  // No badge of an external validator.
  validatorUrl: null,
});
`;

export function docsPage(ctx: Context): void {
  page(ctx, PAGE, POLICY);
}

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
<header class="keep"><label><input type="checkbox" id="keep"> Keep the token in this browser</label></header>
<div id="docs"></div>
<noscript>This page needs JavaScript. The same is at <a href="openapi.json">/openapi.json</a>.</noscript>
</body>
</html>
`;
