/** What a load generator is told to do. */
export const CONNECTIONS = 64;

export type Method = 'GET' | 'POST' | 'DELETE';

/** `count` ids from `first` on. */
export interface Ids {
  readonly first: number;
  readonly count: number;
}

export interface Load {
  readonly method: Method;
  /** The list; a plant is behind it under its id. */
  readonly url: string;
  readonly token: string;
  /** POST creates these one after the other, DELETE deletes them. */
  readonly ids: readonly Ids[];
  readonly seconds: number;
}
