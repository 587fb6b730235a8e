/** Port: time, handed in so that tests can hold it still. */
export interface Clock {
  /** Milliseconds on a clock that never goes back; only differences mean anything. */
  now(): number;
  /** Runs `action` once, `ms` from now, unless the returned function is called before. */
  after(ms: number, action: () => void): () => void;
}
