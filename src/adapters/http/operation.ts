import type { PlantStore } from '../../application';
import type { BodyReader } from './body';
import type { Context } from './context';
import type { MetricsSource, Readiness } from './options';
import type { Pages } from './pages';
import type { FailureName } from './failures';
import type { FairScheduler } from './turns';

/**
 * One operation of the interface. The router, `Allow`, CORS, the OpenAPI document and who needs a
 * user follow from it.
 */
export interface Operation<Needed = Dependencies> {
  readonly method: 'get' | 'put' | 'post' | 'patch' | 'delete';
  readonly path: string;
  /** If one operation needs a user, so does every path that begins with the same segment. */
  readonly needsUser: boolean;
  /**
   * What this operation adds to the failures of any request (`openapi-parts.ts`). The document has a
   * response for each of them, so `described` has only the other responses.
   */
  readonly failures: readonly FailureName[];
  /** Absent for the files of the documentation page, which are not in the document. */
  readonly described?: Described;
  /** Returns `undefined` if the operation does not exist in an app with these dependencies. */
  readonly createEndpoint: (dependencies: Needed) => Endpoint | undefined;
}

interface Described {
  readonly operationId: string;
  readonly summary: string;
  readonly description: string;
  readonly tags: readonly string[];
  readonly parameters?: readonly object[];
  readonly requestBody?: object;
  readonly responses: Readonly<Record<number, object>>;
}

/**
 * `id` is the parameter of the path exactly as the client sent it, because the router decodes its
 * own `params`; undefined if the path has none.
 */
export type Endpoint = (ctx: Context, id: string | undefined) => unknown;

export interface Dependencies {
  readonly plants: PlantStore;
  readonly pages: Pages;
  readonly readBody: BodyReader;
  readonly scheduler: FairScheduler;
  readonly ready: () => Promise<Readiness>;
  readonly metrics: MetricsSource | undefined;
  readonly swaggerUi: string | undefined;
  readonly limitDownload: (ctx: Context) => void;
  readonly document: () => object;
}

export type OperationFacts = Omit<Operation, 'createEndpoint'>;

export interface Served {
  readonly operation: OperationFacts;
  readonly endpoint: Endpoint;
}

export function createEndpoints<Needed>(
  operations: readonly Operation<Needed>[],
  dependencies: Needed,
): readonly Served[] {
  return operations.flatMap((operation) => {
    const endpoint = operation.createEndpoint(dependencies);
    return endpoint ? [{ operation, endpoint }] : [];
  });
}
