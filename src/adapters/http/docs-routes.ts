import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Middleware } from 'koa';
import { DOCS_POLICY, DOCS_SCRIPT, docsPage } from './docs-page';
import { failure } from './answer';
import { keptAnswer } from './kept-answer';
import { openApiDocument } from './openapi/document';
import { page } from './page';
import { PROBLEMS } from './problems';
import { type RequestState, routes } from './routes';

const SCRIPT = 'text/javascript; charset=utf-8';
const STYLE = 'text/css; charset=utf-8';

/** Where the files of Swagger UI are; `undefined` where the package, which is optional, was left out. */
export function findSwaggerUi(): string | undefined {
  try {
    return dirname(require.resolve('swagger-ui-dist/package.json'));
  } catch {
    return undefined;
  }
}

/** The interface, described: for programs at `/openapi.json`, for people at `/docs`. */
export function docsRoutes(swaggerUi: string | undefined): Middleware<RequestState> {
  const document = keptAnswer('application/json', async () => Buffer.from(JSON.stringify(openApiDocument())));
  if (swaggerUi === undefined) return routes({ 'GET /openapi.json': document, 'GET /docs': notInstalled });

  const file = (name: string) => () => readFile(join(swaggerUi, name));
  return routes({
    'GET /openapi.json': document,
    'GET /docs': () => page(docsPage(), DOCS_POLICY),
    'GET /docs/initializer.js': keptAnswer(SCRIPT, async () => Buffer.from(DOCS_SCRIPT)),
    'GET /docs/swagger-ui-bundle.js': keptAnswer(SCRIPT, file('swagger-ui-bundle.js')),
    'GET /docs/swagger-ui.css': keptAnswer(STYLE, file('swagger-ui.css')),
  });
}

function notInstalled() {
  return failure(
    PROBLEMS.noSuchPath,
    'the docs need the package swagger-ui-dist, which is not installed; /openapi.json has it all, too',
  );
}
