/** The types of the bodies, derived from their schemas at compile time: there is nothing to keep up to date. */
import type { schemas } from './schemas';

type Schemas = typeof schemas;

/** What a value is that keeps to the schema `S`. Knows the few words of JSON Schema that ours use. */
type Of<S> = S extends { $ref: `#/components/schemas/${infer Name extends keyof Schemas}` }
  ? Of<Schemas[Name]>
  : S extends { type: 'object'; properties: infer P; required: readonly (infer R)[] }
    ? Plain<
        { readonly [K in keyof P as K extends R ? K : never]: Of<P[K]> } & {
          readonly [K in keyof P as K extends R ? never : K]?: Of<P[K]>;
        }
      >
    : S extends { type: 'array'; items: infer I }
      ? readonly Of<I>[]
      : // A JavaScript number is exact up to 2^53 only.
        S extends { type: 'integer'; format: 'int64' }
        ? number | bigint
        : S extends { type: 'integer' }
          ? number
          : S extends { type: 'string' }
            ? string
            : never;

type Plain<T> = { [K in keyof T]: T[K] };

/** What a create is asked with. */
export type NewPlantBody = Of<Schemas['NewPlant']>;
/** What a create is answered with. */
export type PlantBody = Of<Schemas['Plant']>;
/** What a list is answered with. */
export type PlantsBody = Of<Schemas['Plants']>;
/** What every failure is answered with. */
export type ErrorBody = Of<Schemas['Error']>;
/** What `/health/…` answers while all is well. */
export type HealthBody = Of<Schemas['Health']>;
/** What `/` answers whoever is no browser. */
export type ServiceBody = Of<Schemas['Service']>;
