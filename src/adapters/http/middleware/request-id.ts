import type { IncomingMessage } from 'node:http';
import type { Handler } from '../context';

/** Short, and safe in any log or page. */
const REQUEST_ID = /^[A-Za-z0-9._-]{1,64}$/;

/** Returns the caller's `X-Request-Id` if it is well-formed. `fail` adds a new one to failures without one. */
export function requestId(): Handler {
  return (ctx, next) => {
    const sent = ctx.req.headers['x-request-id'];
    if (typeof sent === 'string' && REQUEST_ID.test(sent)) ctx.set('X-Request-Id', sent);
    return next();
  };
}

/** W3C Trace Context, 3.2: version, trace, parent and flags in lower-case hex. Zeros and version ff are invalid. */
const TRACEPARENT = /^(?!ff)[0-9a-f]{2}-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}$/;

/** The caller's span. */
export function traceparentOf({ headers: { traceparent } }: IncomingMessage): string | undefined {
  return typeof traceparent === 'string' && TRACEPARENT.test(traceparent) ? traceparent : undefined;
}
