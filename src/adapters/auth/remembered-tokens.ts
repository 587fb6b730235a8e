import type { User } from '../../application';

interface Remembered {
  readonly user: User;
  /** Milliseconds since 1970; from then on the token is not good any more. */
  readonly until: number;
}

/**
 * Tokens found good, by digest, so that the next request costs a look-up and
 * no signature. Bounded: beyond `limit` the one unused for longest is
 * forgotten. Only good tokens come in, so nobody can crowd others out with
 * guesses.
 */
export class RememberedTokens {
  /** Least recently used first. */
  readonly #tokens = new Map<string, Remembered>();
  #generation = 0;

  constructor(private readonly limit: number) {}

  /** @param generation of the keys: with a new one everything from before is forgotten. */
  recall(digest: string, now: number, generation: number): User | undefined {
    if (generation !== this.#generation) {
      this.#tokens.clear();
      this.#generation = generation;
    }
    const remembered = this.#tokens.get(digest);
    if (remembered === undefined) return undefined;
    this.#tokens.delete(digest);
    if (remembered.until <= now) return undefined;
    this.#tokens.set(digest, remembered);
    return remembered.user;
  }

  /** @param generation of the keys when the verification began: where it has passed, nothing is remembered. */
  remember(digest: string, token: Remembered, generation: number): void {
    if (generation !== this.#generation) return;
    this.#tokens.delete(digest);
    this.#tokens.set(digest, token);
    if (this.#tokens.size > this.limit) this.#tokens.delete(this.#tokens.keys().next().value!);
  }
}
