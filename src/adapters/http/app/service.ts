/** The handlers of the operations without a token: about, documentation, health and metrics. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { openApiDocument } from '../openapi/document';
import type { OperationId } from '../openapi/operations';
import type { LiveBody, ReadyBody } from '../openapi/schemas';
import { type ServiceOperationId, serviceAt } from '../openapi/service-operations';
import type { MetricsSource, Readiness } from '../options';
import { clientOf } from '../server/served-response';
import { type Handler, type Handlers, pathParameterOf } from './koa';
import { aboutPage } from './about-page';
import { DOCS_INITIALIZER, docsPage } from './docs-page';
import { HttpProblem, PROBLEMS } from './problems';
import { mountPathOf } from './request';
import { Allowance, constant, json, vary } from './response';

interface OperatorOptions {
  readonly ready: () => Promise<Readiness>;
  readonly metrics: MetricsSource | undefined;
}

interface ServiceOptions extends OperatorOptions {
  /** Whether the document has an operation. */
  readonly isServed: (id: OperationId) => boolean;
  /** The folder of the files of Swagger UI; without it, `/docs` answers 404. */
  readonly swaggerUi: string | undefined;
}

export function serviceHandlers(options: ServiceOptions): Handlers<ServiceOperationId> {
  const { ready, metrics, swaggerUi, isServed } = options;
  const allowance = new Allowance();
  return {
    // A page for browsers, JSON for all other clients.
    aboutService(ctx) {
      vary(ctx, 'Accept');
      if (ctx.accepts('json', 'html') === 'html') aboutPage(ctx);
      else json(ctx, JSON.stringify(serviceAt(mountPathOf(ctx))));
    },
    openApi: openApi(isServed, allowance),
    docs: swaggerUi === undefined ? noDocs : docsPage,
    docsFile: swaggerUi === undefined ? undefined : docsFile(swaggerUi, allowance),
    ...operatorHandlers({ ready, metrics }),
  };
}

/** Health and metrics. */
export function operatorHandlers({
  ready,
  metrics,
}: OperatorOptions): Handlers<'live' | 'ready' | 'metrics'> {
  return {
    // A process that answers need not be restarted.
    live: (ctx) => json(ctx, JSON.stringify({ status: 'live' } satisfies LiveBody)),

    // Ready if reads work. The body says whether writes work: no other instance can write what the store refuses.
    async ready(ctx) {
      const works = clientOf(ctx.res)?.draining === true ? DRAINING : await ready();
      const { reads, writes, reasons = [] } = works;
      if (!reads) {
        const message = `the service takes no requests now: ${reasons.join(', ')}`;
        throw new HttpProblem(PROBLEMS.unavailable, message, {}, reasons[0]);
      }
      const body: ReadyBody = { status: 'ready', reads, writes, ...(!writes && { reasons }) };
      json(ctx, JSON.stringify(body));
    },

    metrics:
      metrics &&
      (async (ctx) => {
        const text = await metrics.text();
        ctx.set('Content-Type', metrics.contentType);
        ctx.body = text;
      }),
  };
}

/** The readiness of a service that shuts down. */
export const DRAINING: Readiness = { reads: false, writes: false, reasons: ['draining'] };

/** The document contains the mount path. The latest text is cached. */
function openApi(isServed: ServiceOptions['isServed'], allowance: Allowance): Handler {
  let mountPath: string | undefined;
  let answer: ReturnType<typeof constant>;
  return (ctx) => {
    const at = mountPathOf(ctx);
    if (at !== mountPath) {
      mountPath = at;
      const load = async () => Buffer.from(JSON.stringify(openApiDocument(at, isServed)));
      answer = constant('application/json', load, allowance);
    }
    return answer(ctx);
  };
}

function noDocs(): void {
  throw new HttpProblem(
    PROBLEMS.noSuchPath,
    'this service has no Swagger UI; /openapi.json describes the interface',
  );
}

function docsFile(swaggerUi: string, allowance: Allowance): Handler {
  const published = (name: string) => () => readFile(join(swaggerUi, name));
  const [script, style] = ['text/javascript; charset=utf-8', 'text/css; charset=utf-8'];
  const files = new Map([
    ['initializer.js', constant(script, async () => Buffer.from(DOCS_INITIALIZER), allowance)],
    ['swagger-ui-bundle.js', constant(script, published('swagger-ui-bundle.js'), allowance)],
    ['swagger-ui.css', constant(style, published('swagger-ui.css'), allowance)],
  ]);
  return (ctx) => {
    const answer = files.get(pathParameterOf(ctx));
    if (answer === undefined) throw new HttpProblem(PROBLEMS.noSuchPath);
    return answer(ctx);
  };
}
