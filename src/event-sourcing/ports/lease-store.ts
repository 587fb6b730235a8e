/**
 * Port: what the instances of projections agree on, one text for each projection: who works on which bucket, and until
 * when. Rejects with `StoreUnavailable`, and {@link save} with `OutcomeUnknown`, too.
 */
export interface LeaseStore {
  /**
   * The text of a projection, if there is one, and the time of the store in ms. Only differences of times are meaningful;
   * they are compared by all instances, so no clock of an instance is.
   */
  load(projection: string): Promise<{ readonly text: string | undefined; readonly now: number }>;

  /** Replaces the text of a projection; `undefined` removes it. False, without effect, if it is not `expected`. */
  save(projection: string, expected: string | undefined, text: string | undefined): Promise<boolean>;

  /** The projections that have a text. */
  projections(): Promise<readonly string[]>;
}
