import type { Context, Middleware, Next } from 'koa';
import type { Authenticator } from '../../application';
import { type Headers, HttpProblem, PROBLEMS } from './problems';

const SCHEME = /^bearer(?: |$)/i;
// RFC 6750, 2.1: the scheme in any case, one or more spaces, then a token68.
const CREDENTIALS = /^bearer +([A-Za-z0-9\-._~+/]+=*)$/i;

/** The user that the request's bearer token speaks for, in `ctx.state.user`; 401 with a challenge where it speaks for nobody. */
export function authentication(authenticator: Authenticator): Middleware {
  return async function authenticate(ctx: Context, next: Next): Promise<void> {
    const authorization = ctx.get('Authorization');
    // Credentials of another scheme are none of ours, and get no error code (RFC 6750, 3.1).
    if (!SCHEME.test(authorization)) throw new HttpProblem(PROBLEMS.noCredentials, undefined, challenge());
    const token = CREDENTIALS.exec(authorization)?.[1];
    const user = token === undefined ? undefined : await authenticator.authenticate(token);
    if (user === undefined) {
      throw new HttpProblem(PROBLEMS.badCredentials, undefined, challenge('invalid_token'));
    }
    (ctx.state as { user: unknown }).user = user;
    await next();
  };
}

function challenge(error?: string): Headers {
  return { 'WWW-Authenticate': `Bearer realm="plants"${error === undefined ? '' : `, error="${error}"`}` };
}
