import type { IncomingMessage } from 'node:http';
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

/**
 * The form in W3C Trace Context, 3.2: version, trace, parent and flags in lower-case hex. A trace
 * or parent of zeros is invalid, and so is version ff.
 */
const TRACEPARENT = /^(?!ff)[0-9a-f]{2}-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}$/;

export function readTraceparent({ headers: { traceparent } }: IncomingMessage): string | undefined {
  return typeof traceparent === 'string' && TRACEPARENT.test(traceparent) ? traceparent : undefined;
}
