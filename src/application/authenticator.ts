import type { User } from './user';

/** Port: identifies the user of a token. Independent of the transport. */
export interface Authenticator {
  /**
   * The user of `token`, or `undefined` if the token is invalid; synchronous if the answer is known.
   * Rejects with {@link AuthenticationUnavailable} if the token cannot be verified now.
   */
  authenticate(token: string): User | undefined | Promise<User | undefined>;
}

/** The token could not be verified. A retry may succeed. */
export class AuthenticationUnavailable extends Error {
  override readonly name = 'AuthenticationUnavailable';
}
