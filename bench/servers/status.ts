/** The status that a filled server reports. */
export interface ServerStatus {
  /** The longest block of the event loop since the last report, in ms. */
  readonly longestDelayMs: number;
  /** Heap in bytes after a garbage collection; only with --expose-gc. */
  readonly heap: number | undefined;
}

/** The argument of a filled server: the folder of the compiled service, and the initial users. */
export interface InitialData {
  readonly service: string;
  readonly users: readonly FilledUsers[];
  /** The URL of an empty Redis that they are stored in; absent for memory. */
  readonly redis?: string | undefined;
}

export interface FilledUsers {
  /** Also the token; that of each of several users ends with its number, see `Load`. */
  readonly name: string;
  /** Number of users; absent for one whose name has no number. */
  readonly users?: number | undefined;
  /** Plants of each. */
  readonly plants: number;
}

/** The message that begins a profile of a server, and ends it. */
export const PROFILE = 'profile';
