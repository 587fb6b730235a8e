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
  readonly users: readonly FilledUser[];
}

export interface FilledUser {
  /** Also the user's token. */
  readonly name: string;
  readonly plants: number;
  /** Number of plants that were created and deleted before; each adds two events. */
  readonly deleted: number;
}
