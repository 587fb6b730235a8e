import type { Authenticator, User } from '../../application';

/**
 * Several sources as one: the first that knows a token says whose it is. One
 * that cannot tell now ends the search, so those that always can come first.
 */
export class AnyOf implements Authenticator {
  constructor(private readonly sources: readonly Authenticator[]) {}

  async authenticate(token: string): Promise<User | undefined> {
    for (const source of this.sources) {
      const user = await source.authenticate(token);
      if (user !== undefined) return user;
    }
    return undefined;
  }
}
