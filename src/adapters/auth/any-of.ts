import type { Authenticator, TokenFault, User } from '../../application';

/**
 * Combines several authenticators: the first that knows a token determines its
 * user. An unavailable one ends the search, so local ones should come first.
 */
export class AnyOf implements Authenticator {
  constructor(private readonly sources: readonly Authenticator[]) {}

  async authenticate(token: string, rejected?: (fault: TokenFault) => void): Promise<User | undefined> {
    for (const source of this.sources) {
      const user = await source.authenticate(token, rejected);
      if (user !== undefined) return user;
    }
    return undefined;
  }
}
