/** The parts of an OpenAPI 3.1 document that this one uses (https://spec.openapis.org/oas/v3.1.1). */
import type { FailureKind } from '../app/problems';

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
  /** Required in a path: Swagger UI fills it in, and the tests request it. */
  readonly example?: string | number;
}

/** A row of the tables of operations. */
export interface Operation {
  readonly tag: Tag;
  readonly method: Method;
  /** With the parameters in braces. */
  readonly path: string;
  readonly summary: string;
  readonly description: string;
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: {
    readonly required: boolean;
    readonly description: string;
    readonly content: Readonly<Record<string, Media>>;
  };
  /** The responses to a success. */
  readonly responses: Responses;
  /** Failures that do not follow from its other members. */
  readonly failures?: readonly FailureKind[];
}

/** The methods that an operation may have, in the order of `Allow`. HEAD and OPTIONS follow from the others. */
export const OPERATION_METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;
export type Method = (typeof OPERATION_METHODS)[number];

/** A group of operations, as Swagger UI shows it. */
export interface Tag {
  readonly name: string;
  readonly description: string;
}

/** A table of operations with one tag. */
export function tagged<const Table extends Readonly<Record<string, Omit<Operation, 'tag'>>>>(
  tag: Tag,
  table: Table,
): { readonly [Id in keyof Table]: Table[Id] & { readonly tag: Tag } } {
  const rows = Object.entries(table).map(([id, row]) => [id, { ...row, tag }]);
  return Object.fromEntries(rows) as { [Id in keyof Table]: Table[Id] & { readonly tag: Tag } };
}

/** The parameter of an operation whose content has an `ETag`. */
export const IF_NONE_MATCH: Parameter = {
  name: 'If-None-Match',
  in: 'header',
  required: false,
  description: 'The `ETag` of an earlier response. If nothing has changed since, the response is 304.',
  schema: { type: 'string' },
};

/** Content in JSON, by a named schema. */
export function jsonContent(
  schema: string,
  examples: NonNullable<Media['examples']>,
): NonNullable<Response['content']> {
  return { 'application/json': { schema: { $ref: `#/components/schemas/${schema}` }, examples } };
}
