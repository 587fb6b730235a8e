import type { Authenticator, User } from '../../application';
import { tokenDigest } from './token-digest';

/** A fixed set of tokens, for development and tests. */
export class StaticTokens implements Authenticator {
  readonly #users: ReadonlyMap<string, User>;

  /** @param tokens token → user; a user may have several. */
  constructor(tokens: Iterable<readonly [token: string, user: User]>) {
    this.#users = new Map([...tokens].map(([token, user]) => [tokenDigest(token), user]));
  }

  authenticate(token: string): User | undefined {
    return this.#users.get(tokenDigest(token));
  }
}
