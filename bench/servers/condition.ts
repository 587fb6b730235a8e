/** What a filled server tells of itself when asked. */
export interface Condition {
  /** How long the event loop stood still at most since it was last asked, in ms. */
  readonly longestDelayMs: number;
  /** Bytes that its objects hold after a garbage collection; only with --expose-gc. */
  readonly heap: number | undefined;
}

/** What it is told at its start: where the compiled service is, and what there is from the beginning. */
export interface Filling {
  readonly service: string;
  readonly users: readonly FilledUser[];
}

export interface FilledUser {
  /** His token as well. */
  readonly name: string;
  readonly plants: number;
  /** 2 × this many events more: plants that came and went before those that are there. */
  readonly gone: number;
}
