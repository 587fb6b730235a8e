import type { User } from '../../application';

interface VerifiedToken {
  readonly user: User;
  /** Expiry, in milliseconds since 1970. */
  readonly until: number;
}

/**
 * An LRU cache of valid tokens, by digest: a cached token is not verified again.
 * It has at most `limit` entries. Only valid tokens are cached, so guesses evict
 * none.
 */
export class TokenCache {
  /** Least recently used first. */
  readonly #tokens = new Map<string, VerifiedToken>();
  #generation = 0;

  constructor(private readonly limit: number) {}

  /** @param generation of the keys; a new generation clears the cache. */
  get(digest: string, now: number, generation: number): User | undefined {
    if (generation !== this.#generation) {
      this.#tokens.clear();
      this.#generation = generation;
    }
    const cached = this.#tokens.get(digest);
    if (cached === undefined) return undefined;
    this.#tokens.delete(digest);
    if (cached.until <= now) return undefined;
    this.#tokens.set(digest, cached);
    return cached.user;
  }

  /** @param generation of the keys when the verification started; if it has changed, the token is not cached. */
  set(digest: string, token: VerifiedToken, generation: number): void {
    if (generation !== this.#generation) return;
    this.#tokens.delete(digest);
    this.#tokens.set(digest, token);
    if (this.#tokens.size > this.limit) this.#tokens.delete(this.#tokens.keys().next().value!);
  }
}
