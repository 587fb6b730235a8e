import type { METHODS } from '../app/koa';

/** The parts of an OpenAPI 3.1 document that this one uses (https://spec.openapis.org/oas/v3.1.1). */
export interface Reference {
  readonly $ref: string;
}

export type Schema = Readonly<Record<string, unknown>>;

export interface Header {
  readonly description: string;
  readonly required: boolean;
  readonly schema: Schema;
}

export interface Response {
  readonly description: string;
  readonly headers: Readonly<Record<string, Header | Reference>>;
  /** By media type. */
  readonly content?: Readonly<Record<string, Media>>;
}

/** By status. */
export type Responses = Readonly<Record<string, Response | Reference>>;

export interface Media {
  readonly schema: Schema;
  readonly examples?: Readonly<Record<string, { readonly summary: string; readonly value: unknown }>>;
}

export interface Parameter {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
  readonly required: boolean;
  readonly description: string;
  readonly schema: Schema;
}

export interface Operation {
  readonly operationId: string;
  readonly summary: string;
  readonly description: string;
  readonly tags: readonly string[];
  readonly security?: readonly [];
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: {
    readonly required: boolean;
    readonly description: string;
    readonly content: Readonly<Record<string, Media>>;
  };
  readonly responses: Responses;
}

/** A method with an operation of its own, as OpenAPI writes it. */
export type Method = Lowercase<Exclude<(typeof METHODS)[number], 'HEAD' | 'OPTIONS'>>;

/** By method. */
export type Operations = Readonly<Partial<Record<Method, Operation>>>;

export type PathItem = Operations & { readonly parameters?: readonly Parameter[] };

export type Paths = Readonly<Record<string, PathItem>>;

/** The groups of operations, as Swagger UI shows them. */
export const TAGS = {
  plants: { name: 'Plants', description: 'Create, list and delete plants.' },
  service: { name: 'Service', description: 'Documentation, health and metrics. Needs no token.' },
} as const;
