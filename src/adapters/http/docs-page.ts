/** The page at `/docs`: Swagger UI, from files of this service alone. */
import { TAGS } from './openapi/operations';
import { ICON } from './page';

/** React sets styles through the CSSOM, which a policy does not concern: neither inline styles nor scripts are needed. */
export const DOCS_POLICY = ["script-src 'self'", "style-src 'self'", "connect-src 'self'"];

/** A file of its own, for the policy allows no script within the page. */
export const DOCS_SCRIPT = `'use strict';

const ui = SwaggerUIBundle({
  url: '/openapi.json',
  dom_id: '#docs',
  deepLinking: true,
  tryItOutEnabled: true,
  displayRequestDuration: true,
  // The badge of a validator outside.
  validatorUrl: null,
  // For the curious: it would fill the page.
  onComplete: () => ui.layoutActions.show(['operations-tag', '${TAGS.http}'], false),
});
`;

export function docsPage(): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>plant-store: the HTTP interface</title>
<link rel="icon" href="${ICON}">
<link rel="stylesheet" href="/docs/swagger-ui.css">
<script defer src="/docs/swagger-ui-bundle.js"></script>
<script defer src="/docs/initializer.js"></script>
</head>
<body>
<main id="docs"></main>
<noscript>This page needs JavaScript. The same is at <a href="/openapi.json">/openapi.json</a>.</noscript>
</body>
</html>
`;
}
