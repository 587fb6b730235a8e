import type { User } from './user';

/** Port: who is calling. Knows nothing of HTTP, so every transport can ask it. */
export interface Authenticator {
  /**
   * The user that `token` speaks for, or `undefined` where it speaks for nobody: at once where that is known.
   * Rejects with {@link AuthenticationUnavailable} where that cannot be learned now.
   */
  authenticate(token: string): User | undefined | Promise<User | undefined>;
}

/** A fault: whether the token is good could not be learned. Nothing happened; asking again later may help. */
export class AuthenticationUnavailable extends Error {
  override readonly name = 'AuthenticationUnavailable';
}
