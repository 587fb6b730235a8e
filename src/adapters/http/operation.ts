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
  /** The failures of this operation, besides those that every operation may have. */
  readonly failures: readonly FailureName[];
  /** Its part of the OpenAPI document. The files of the page for people have none. */
  readonly described?: Described;
  /**
   * Creates what answers a request in this app. Returns `undefined` if the app lacks a dependency
   * without which the operation does not exist.
   */
  readonly createEndpoint: (dependencies: Needed) => Endpoint | undefined;
}

interface Described {
  readonly operationId: string;
  readonly summary: string;
  readonly description: string;
  readonly tags: readonly string[];
  readonly parameters?: readonly object[];
  readonly requestBody?: object;
  /** The responses that are not failures. */
  readonly responses: Readonly<Record<number, object>>;
}

/**
 * `id` is the parameter of the path exactly as the client sent it, because the router decodes its
 * own `params`; undefined if the path has none.
 */
export type Endpoint = (ctx: Context, id: string | undefined) => unknown;

/** What the endpoints of an app use. */
export interface Dependencies {
  readonly plants: PlantStore;
  readonly pages: Pages;
  readonly readBody: BodyReader;
  readonly scheduler: FairScheduler;
  readonly ready: () => Promise<Readiness>;
  readonly metrics: MetricsSource | undefined;
  readonly swaggerUi: string | undefined;
  /** Bounds the downloads that their clients do not read. */
  readonly limitDownload: (ctx: Context) => void;
  /** Returns the OpenAPI document of the operations that the app serves. */
  readonly document: () => object;
}

/**
 * An operation with its endpoint. `never` keeps `createEndpoint` from being called once more.
 */
export interface Served {
  readonly operation: Operation<never>;
  readonly endpoint: Endpoint;
}

/** Returns the operations that an app with these dependencies serves. */
export function createEndpoints<Needed>(
  operations: readonly Operation<Needed>[],
  dependencies: Needed,
): readonly Served[] {
  return operations.flatMap((operation) => {
    const endpoint = operation.createEndpoint(dependencies);
    return endpoint ? [{ operation, endpoint }] : [];
  });
}
