/** Authentication and admission: each request that needs a user has one, and each user a bounded number of requests. */
import type { Middleware } from 'koa';
import type { Authenticator, TokenFault, User } from '../../../application';
import { needsUser } from '../openapi/operations';
import { whenClosed } from '../server/served-response';
import { type Headers, HttpProblem, PROBLEMS } from './problems';
import type { State } from './koa';

/**
 * Sets `state.user` on each request that needs a user, and passes on all others.
 * @param maxRequests of one user in flight at a time; at least 1.
 */
export function users(authenticator: Authenticator, maxRequests: number): Middleware<State> {
  const admission = new Admission(maxRequests);
  return async (ctx, next) => {
    if (!needsUser(ctx.request.path)) {
      await next();
      return;
    }
    const found = authenticate(authenticator, ctx.req.headers.authorization);
    const user = typeof found === 'string' ? found : await found;
    ctx.state.user = user;
    admission.enter(user);
    try {
      await next();
    } finally {
      // It ends when its work is done and its response was read.
      whenClosed(ctx.res, () => admission.leave(user));
    }
  };
}

const SCHEME = /^bearer(?: |$)/i;
// RFC 6750, 2.1: the scheme in any case, one or more spaces, then a token68.
const CREDENTIALS = /^bearer +([A-Za-z0-9\-._~+/]+=*)$/i;

/** The user of an `Authorization` field; synchronously if the authenticator is synchronous. Throws a 401 without a user. */
function authenticate(authenticator: Authenticator, authorization = ''): User | Promise<User> {
  const token = CREDENTIALS.exec(authorization)?.[1];
  if (token === undefined) refuse(authorization, 'malformed');
  let fault: TokenFault = 'unknown';
  const user = authenticator.authenticate(token, (known) => (fault = known));
  if (typeof user === 'string') return user;
  // The authenticator may return a promise of another realm or library.
  return Promise.resolve(user).then((found) => found ?? refuse(authorization, fault));
}

function refuse(authorization: string, fault: TokenFault): never {
  // Credentials of another scheme get no error code (RFC 6750, 3.1).
  if (!SCHEME.test(authorization))
    throw new HttpProblem(PROBLEMS.noCredentials, undefined, challenge(), 'no_token');
  throw new HttpProblem(PROBLEMS.badCredentials, undefined, challenge('invalid_token'), `token_${fault}`);
}

function challenge(error?: string): Headers {
  return { 'WWW-Authenticate': `Bearer realm="plants"${error === undefined ? '' : `, error="${error}"`}` };
}

/** Bounds the requests of one user that are in flight at a time. */
class Admission {
  readonly #inFlight = new Map<User, number>();

  constructor(private readonly max: number) {}

  /** Counts a request until {@link leave}. Throws {@link HttpProblem} if `max` are in flight. */
  enter(user: User): void {
    const inFlight = this.#inFlight.get(user) ?? 0;
    if (inFlight >= this.max) throw new HttpProblem(PROBLEMS.tooManyRequests, undefined, {}, 'user_requests');
    this.#inFlight.set(user, inFlight + 1);
  }

  leave(user: User): void {
    const inFlight = this.#inFlight.get(user)! - 1;
    if (inFlight === 0) this.#inFlight.delete(user);
    else this.#inFlight.set(user, inFlight);
  }
}
