import type { User } from '../../application';
import { tokenDigest } from './token-digest';

/** Maximum number of remembered tokens. Each takes its length, and about 100 bytes. */
export const MAX_REMEMBERED = 20_000;

/**
 * Finds the user of a token by its digest, and remembers the valid tokens that
 * were used, so that a token is not digested with every request.
 * docs/decisions/0015-remembered-tokens.md has the reasons.
 */
export class TokenTable {
  /** By token, the oldest first. */
  readonly #remembered = new Map<string, User>();

  /** @param users by token digest. They do not change: for other tokens there is another table. */
  constructor(private readonly users: ReadonlyMap<string, User>) {}

  /** Number of valid tokens. */
  get size(): number {
    return this.users.size;
  }

  /** Number of remembered tokens, at most {@link MAX_REMEMBERED}. */
  get remembered(): number {
    return this.#remembered.size;
  }

  userOf(token: string): User | undefined {
    const known = this.#remembered.get(token);
    if (known !== undefined) return known;
    const user = this.users.get(tokenDigest(token));
    if (user !== undefined) this.#remember(token, user);
    return user;
  }

  #remember(token: string, user: User): void {
    if (this.#remembered.size >= MAX_REMEMBERED)
      this.#remembered.delete(this.#remembered.keys().next().value!);
    // A copy: the token is a slice of a header field, and would keep all of it in memory.
    this.#remembered.set(Buffer.from(token).toString(), user);
  }
}
