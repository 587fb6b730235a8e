import type { Authenticator, TokenReason } from '../../../application';
import type { Handler } from '../context';
import { SEGMENTS_WITH_USERS } from '../operations';
import { HttpFailure, FAILURES } from '../failures';

/**
 * Matches every path whose first segment needs a user, even one that does not exist, because
 * credentials are checked before the path.
 */
const NEEDS_USER = new RegExp(`^/(?:${SEGMENTS_WITH_USERS.join('|')})(?:[/?]|$)`);

// RFC 6750, 2.1: the scheme in any case, one or more spaces, then a token68.
const CREDENTIALS = /^bearer +([A-Za-z0-9\-._~+/]+=*)$/i;

export function authenticate(authenticator: Authenticator): Handler {
  return ({ req, state }, next) => {
    if (!NEEDS_USER.test(req.url!)) return next();
    const { authorization = '' } = req.headers;
    const token = CREDENTIALS.exec(authorization)?.[1];
    if (token === undefined) throw credentialsFailure(authorization, 'malformed');
    const result = authenticator.authenticate(token);
    // Most authenticators answer at once, and then the request need not wait for a promise.
    if (typeof result === 'string') {
      state.user = result;
      return next();
    }
    // The answer may be a promise of another realm or library, so `instanceof` cannot recognize it.
    return Promise.resolve(result).then((awaited) => {
      if (typeof awaited !== 'string')
        throw credentialsFailure(authorization, awaited?.reason ?? 'unknown');
      state.user = awaited;
      return next();
    });
  };
}

/**
 * Only the challenge to a bearer token has an `error` of RFC 6750. A request without credentials, or
 * with another scheme, gets the bare challenge (RFC 6750, 3.1).
 */
function credentialsFailure(authorization: string, reason: TokenReason): HttpFailure {
  const isBearer = /^bearer(?: |$)/i.test(authorization);
  const challenge = `Bearer realm="plants"${isBearer ? ', error="invalid_token"' : ''}`;
  return new HttpFailure(isBearer ? FAILURES.badCredentials : FAILURES.noCredentials, {
    headers: { 'WWW-Authenticate': challenge },
    reason: isBearer ? `token_${reason}` : 'no_token',
  });
}
