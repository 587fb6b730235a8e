import type { Authenticator, User } from '../../application';
import { type Headers, HttpProblem, PROBLEMS } from './problems';

const SCHEME = /^bearer(?: |$)/i;
// RFC 6750, 2.1: the scheme in any case, one or more spaces, then a token68.
const CREDENTIALS = /^bearer +([A-Za-z0-9\-._~+/]+=*)$/i;

/**
 * The user that the bearer token in an Authorization header speaks for, at once where the authenticator says so at
 * once. {@link HttpProblem}, 401 with a challenge, where it speaks for nobody, or `AuthenticationUnavailable`.
 */
export function authenticate(authenticator: Authenticator, authorization = ''): User | Promise<User> {
  const token = CREDENTIALS.exec(authorization)?.[1];
  const user = token === undefined ? undefined : authenticator.authenticate(token);
  if (typeof user === 'string') return user;
  if (user === undefined) refuse(authorization);
  // Not every promise is an instance of the Promise here: one of another realm or library is taken for what it is.
  return Promise.resolve(user).then((found) => found ?? refuse(authorization));
}

function refuse(authorization: string): never {
  // Credentials of another scheme are none of ours, and get no error code (RFC 6750, 3.1).
  if (!SCHEME.test(authorization)) throw new HttpProblem(PROBLEMS.noCredentials, undefined, challenge());
  throw new HttpProblem(PROBLEMS.badCredentials, undefined, challenge('invalid_token'));
}

function challenge(error?: string): Headers {
  return { 'WWW-Authenticate': `Bearer realm="plants"${error === undefined ? '' : `, error="${error}"`}` };
}
