/** The argument of a load generator. */
export const CONNECTIONS = 64;

export type Method = 'GET' | 'POST' | 'DELETE';

/** `count` ids from `first` on. */
export interface Ids {
  readonly first: number;
  readonly count: number;
}

export interface Load {
  readonly method: Method;
  /** The URL of the list; that of a plant appends `/` and its id. */
  readonly url: string;
  readonly token: string;
  /** POST creates these one after the other, DELETE deletes them. */
  readonly ids: readonly Ids[];
  readonly seconds: number;
}
