import type { Authenticator, User } from '../../application';
import { tokenDigest } from './token-digest';
import { TokenTable } from './token-table';

/** A fixed set of tokens, for development and tests. */
export class StaticTokens implements Authenticator {
  readonly #table: TokenTable;

  /** @param tokens token → user; a user may have several. */
  constructor(tokens: Iterable<readonly [token: string, user: User]>) {
    this.#table = new TokenTable(new Map([...tokens].map(([token, user]) => [tokenDigest(token), user])));
  }

  authenticate(token: string): User | undefined {
    return this.#table.userOf(token);
  }
}
