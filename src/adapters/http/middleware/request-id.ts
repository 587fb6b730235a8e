import type { Handler } from '../context';

const REQUEST_ID = /^[A-Za-z0-9._-]{1,64}$/;

/**
 * Copies the `X-Request-Id` of the client to the response if it is short, and safe in every log and
 * page. Otherwise only a failure has an ID, which `fail` creates.
 */
export function requestId(): Handler {
  return (ctx, next) => {
    const sent = ctx.req.headers['x-request-id'];
    if (typeof sent === 'string' && REQUEST_ID.test(sent)) ctx.set('X-Request-Id', sent);
    return next();
  };
}
